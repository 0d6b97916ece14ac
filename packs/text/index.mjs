class NodeError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** `{{name}}` becomes the input of that name. A place without a value fails unless the config has `missing`. */
function template({ inputs, config }) {
  const text = config.template.replace(/\{\{\s*([\w-]+)\s*\}\}/g, (_, name) => {
    if (Object.hasOwn(inputs, name)) return textOf(inputs[name]);
    if (config.missing !== undefined) return config.missing;
    throw new NodeError('template_value_missing', `The template asks for "${name}", which is not an input.`);
  });
  return { status: 'success', outputs: { text } };
}

/** RFC 6901: `~1` stands for `/`, `~0` for `~`. */
const segments = (pointer) =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

function pick({ inputs, config }) {
  let value = inputs.value;
  for (const segment of segments(config.pointer)) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, segment);
    if (isThere) value = value[segment];
    else if (Object.hasOwn(config, 'fallback'))
      return { status: 'success', outputs: { value: config.fallback } };
    else throw new NodeError('value_missing', `There is nothing at "${config.pointer}".`);
  }
  return { status: 'success', outputs: { value } };
}

export const nodes = {
  'vendor.gantry.text.template': template,
  'vendor.gantry.text.pick': pick,
};
