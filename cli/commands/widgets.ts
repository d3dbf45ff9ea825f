import { randomBase62 } from '../../src/kernel/crypto'
import type { NewWidget } from '../../src/widgets/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column, idColumn } from '../output/columns'
import { readValueFile } from '../preference-file'
import type { Shell } from '../shell'
import { argument, list, text } from '../words'
import { resourceCommands } from './noun-commands'
import { widgetAt } from './widgets-show'

const columns = [
  idColumn,
  column('name', 'NAME'),
  column('status', 'STATUS'),
  column('api_key_id', 'KEY', { wide: true }),
  column('embed_snippet', 'TAG', { wide: true }),
  column('created_at', 'CREATED', { kind: 'time' }),
]
const common = { apis: ['tenant', 'operator'], columns } as const
const args = { id: argument('id of the widget') }
const ID = '31aa07c2-…'
const looks = {
  name: text('NAME', 'name of the widget'),
  origin: list('A,B', 'origins whose pages can show it, such as https://shop.example'),
  accent: text('COLOR', 'main colour, such as #2563eb'),
  welcome: text('TEXT', 'its first message'),
  file: { ...text('FILE', 'JSON with the members of the API; - reads it from stdin'), short: 'f' },
}
type Looks = { name?: string; origin?: string[]; accent?: string; welcome?: string; file?: string }

/** The members that flags name, over those of the file. */
async function inputOf(shell: Shell, { name, origin, accent, welcome, file }: Looks): Promise<Partial<NewWidget>> {
  const from = (file === undefined ? {} : await readValueFile(shell, file)) as Partial<NewWidget>
  return {
    ...from,
    ...(name === undefined ? {} : { name }),
    ...(origin === undefined ? {} : { security: { ...from.security, allowedOrigins: origin } }),
    ...(accent === undefined ? {} : { appearance: { ...from.appearance, primaryColor: accent } }),
    ...(welcome === undefined ? {} : { behavior: { ...from.behavior, welcomeMessage: welcome } }),
  }
}

const createWidget = defineCommand({
  ...common,
  path: 'widgets create',
  summary: 'Create a widget',
  about:
    "The key pays for the widget and answers in it. Without --origin, the key's own origins can show it. If the key has none, no page can.",
  examples: [
    `widgets create --key ${ID} --origin https://shop.example`,
    `widgets create --key ${ID} -f shop.json --json`,
  ],
  impact: 'write',
  exits: [3, 5],
  flags: { key: text('KEY', 'id of the key that pays'), ...looks },
  async run(shell, { key, ...message }) {
    const input = { ...(await inputOf(shell, message)), ...(key === undefined ? {} : { api_key_id: key }) } as NewWidget
    if (shell.planned(`create the widget ${input.name ?? 'My Widget'}`)) return
    const { api, ownerFilter } = await apiOf(shell)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const made = expectData(await api.iframes.post(input, { query: ownerFilter, headers }))
    shell.print.item(made, columns)
    shell.note(`Put it on a page: svc-admin widgets snippet ${made.id}`)
  },
})

const updateWidget = defineCommand({
  ...common,
  path: 'widgets update',
  summary: 'Change a widget',
  about: 'Settings that you do not name stay the same, also inside a group of members.',
  examples: [`widgets update ${ID} --accent "#0f766e"`, `widgets update ${ID} -f shop.json --json`],
  impact: 'write',
  exits: [3, 5],
  args,
  flags: looks,
  async run(shell, { id, ...message }) {
    const patch = await inputOf(shell, message)
    if (shell.planned(`change ${Object.keys(patch).join(', ') || 'nothing'} of widget ${id}`)) return
    const { one } = await widgetAt(shell, id)
    shell.print.item(expectData(await one.patch(patch)), columns)
  },
})

const duplicateWidget = defineCommand({
  ...common,
  path: 'widgets duplicate',
  summary: 'Copy a widget',
  about: 'The copy has the same key and design, but no conversations.',
  examples: [`widgets duplicate ${ID}`, `widgets duplicate ${ID} --name "Second shop" --json`],
  impact: 'write',
  exits: [3, 5],
  args,
  flags: { name: looks.name },
  async run(shell, { id, name }) {
    if (shell.planned(`copy widget ${id}`)) return
    const { one } = await widgetAt(shell, id)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    shell.print.item(expectData(await one.duplicate.post(name === undefined ? {} : { name }, { headers })), columns)
  },
})

const plain = resourceCommands<{ status: 'active' | 'disabled' }>({
  resource: 'widgets',
  what: 'widget',
  columns,
  id: ID,
  page: async (api, query) => {
    const found = expectData(await api.iframes.get({ query }))
    return { items: found.configs, next: found.next_cursor }
  },
  at: widgetAt,
  read: async (shell, id) => expectData(await (await widgetAt(shell, id)).one.get()),
  first: 'create --key KEY --origin https://shop.example',
  shown: 'With --json it prints everything about it.',
  switched: (on) => ({ status: on ? 'active' : 'disabled' }),
  enable: ['Enable a widget', 'Takes effect with the next request of its visitors.'],
  disable: ['Disable a widget', 'Takes effect with the next request of its visitors.'],
  along: ' and its conversations',
})

export const widgetCommands = [
  plain.list,
  plain.get,
  createWidget,
  updateWidget,
  plain.enable,
  plain.disable,
  duplicateWidget,
  plain.remove,
]
