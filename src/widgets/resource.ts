import { iso } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { defineResource } from '../resource'
import { widgetSettings } from './config'
import { DEFAULTS, personaOf } from './groups'
import * as words from './schema'
import { type WidgetRow, widgets } from './table'

/** Chat widgets (docs/api.md 15.1). The service adds the snippet, which contains this server's address. */
export const widget = defineResource({
  name: 'iframe',
  title: { one: 'widget', many: 'widgets' },
  path: '/iframes',
  plural: 'configs',
  table: widgets,
  id: words.WidgetId,
  words: {
    New: words.NewWidget,
    Patch: words.WidgetPatch,
    View: words.Widget,
    Query: words.WidgetQuery,
    Page: words.WidgetPage,
  },
  summaries: {
    create: 'Create a chat widget',
    list: 'List chat widgets, newest first',
    get: 'Read one chat widget',
    update: 'Change a chat widget; omitted members of a group stay the same',
    remove: 'Delete a chat widget and its conversations',
  },
  owned: 'team',
  permission: 'manageConnectors',
  createErrors: [404],
  holds: ['welcomeMessage', 'suggestedPrompts', 'persona', 'keywords', 'message', 'url'],
  max: widgetSettings.maxWidgets,
  empty: {
    name: 'My Widget',
    status: 'active',
    api_key_id: '' as KeyId,
    key_owner: 'user:',
    identity_version: 0,
    ...DEFAULTS,
  },
  present: (row: WidgetRow): words.Widget => ({
    id: row.id,
    object: 'iframe_config',
    name: row.name,
    status: row.status,
    api_key_id: row.api_key_id,
    appearance: row.appearance,
    behavior: { ...row.behavior, persona: personaOf(row.behavior.persona) },
    security: row.security,
    intents: row.intents,
    embed_snippet: '',
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }),
})
