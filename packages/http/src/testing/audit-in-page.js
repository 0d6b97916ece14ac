/** Runs inside a page, where `page-audit.ts` sends it. Its last value is what it found, in words. */

/** Names, headings, landmarks, width. */
function structureProblems() {
  const problems = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  for (const field of all('input, select')) {
    if (field.labels.length === 0) problems.push(`no label: ${field.outerHTML}`);
  }
  for (const element of all('a, button, summary'))
    if ((element.textContent ?? '').trim() === '') problems.push(`no name: ${element.outerHTML}`);
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5')) {
    const next = Number(heading.tagName.slice(1));
    if (next > level + 1) problems.push(`h${next} after h${level}: ${heading.textContent}`);
    level = next;
  }
  for (const landmark of ['header', 'main', 'footer', 'h1'])
    if (all(landmark).length !== 1) problems.push(`${all(landmark).length} of ${landmark}`);
  for (const { id } of all('[id]'))
    if (document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1) problems.push(`id twice: ${id}`);
  for (const element of all('[aria-labelledby]'))
    if (!document.getElementById(element.getAttribute('aria-labelledby') ?? ''))
      problems.push(element.outerHTML);
  if (document.documentElement.lang === '') problems.push('no language');
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) problems.push(`wider than the window by ${scrollWidth - clientWidth}`);
  return problems;
}

/** Text must stand out 4.5 to 1 from what is behind it (WCAG 2.2, AA). */
function contrastProblems() {
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue]
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const problems = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const ownText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    if (!ownText || element.getClientRects().length === 0) continue;
    const [front, back] = [light(channels(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5)
      problems.add(`contrast ${ratio.toFixed(2)}: ${element.className} ${element.textContent?.slice(0, 40)}`);
  }
  return [...problems];
}

[...structureProblems(), ...contrastProblems()];
