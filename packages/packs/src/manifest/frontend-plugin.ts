import Type, { type Static } from 'typebox';
import { Address, closed, FileRef, identity, Label } from './fields.ts';

const UiPlugin = Type.Object(
  {
    pluginId: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
    surface: Type.Enum(['artifact-viewer', 'route', 'settings-panel', 'canvas-preview']),
    entry: FileRef,
    hostApi: Type.Array(
      Type.Enum(['artifact.read', 'artifact.write', 'host.toast', 'host.navigate', 'host.announce']),
      { uniqueItems: true, maxItems: 5 },
    ),
    connectSrc: Type.Optional(Type.Array(Address, { uniqueItems: true, maxItems: 50 })),
    canvasTypes: Type.Optional(Type.Array(Label, { uniqueItems: true, maxItems: 50 })),
  },
  closed,
);

export const FrontendPluginPackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('frontend-plugin'),
    uiPlugins: Type.Array(UiPlugin, { minItems: 1, maxItems: 50 }),
  },
  closed,
);
export type FrontendPluginPackManifest = Static<typeof FrontendPluginPackManifest>;
