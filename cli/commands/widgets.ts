import { clean } from '../../src/kernel/text'
import type { NewWidget } from '../../src/widgets/schema'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { readValueFile } from '../files'
import { itemArgument, keyFlag } from '../resource'
import type { Shell } from '../shell'
import { argument, choice, type FlagsGiven, flag, list, text } from '../words'
import { openLink } from './open'
import { switchCommands } from './resource-commands'

const args = { id: itemArgument('widgets', 'widget') }
const ID = '31aa07c2-…'

const columns = columnsOf`
  id, name NAME, status STATUS, api_key_id KEY wide, embed_snippet TAG wide, created_at CREATED time`

const command = commandsOf('widgets', { apis: ['tenant', 'operator'], columns, args })

const snippetColumns = columnsOf`embed_snippet TAG`

const looks = {
  name: text('NAME', 'name of the widget'),
  origin: list('A,B', 'origins whose pages can show it, such as https://shop.example'),
  accent: text('COLOR', 'main colour, such as #2563eb'),
  welcome: text('TEXT', 'its first message'),
  file: { ...text('FILE', 'JSON with the members of the API; - reads it from stdin'), short: 'f' },
}
type Looks = FlagsGiven<typeof looks>

/** The members that flags set. They override those of the file. */
async function inputOf(shell: Shell, { name, origin, accent, welcome, file }: Looks): Promise<Partial<NewWidget>> {
  const from = (file === undefined ? {} : await readValueFile(shell, file)) as Partial<NewWidget>
  const given = defined({
    name,
    security: origin && { ...from.security, allowedOrigins: origin },
    appearance: accent === undefined ? undefined : { ...from.appearance, primaryColor: accent },
    behavior: welcome === undefined ? undefined : { ...from.behavior, welcomeMessage: welcome },
  })
  return { ...from, ...given }
}

const plain = switchCommands({
  path: 'widgets',
  resource: 'widgets',
  what: 'widget',
  columns,
  id: ID,
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
  command`create: Create a widget
  The key pays for the widget and answers in it. Without --origin, the key's own origins can show it. If the key has none, no page can.
  $ widgets create --key ${ID} --origin https://shop.example
  $ widgets create --key ${ID} -f shop.json --json`({
    flags: { key: keyFlag('the key that pays: id, prefix or name'), ...looks },
    async find(shell, { key: api_key_id, ...given }) {
      const input = { ...(await inputOf(shell, given)), ...defined({ api_key_id }) } as NewWidget
      if (!input.api_key_id) throw usageFailure('widgets create needs --key.', 'svc-admin keys list')
      return { input }
    },
    action: ({ input }) => `create the widget ${input.name ?? 'My Widget'}`,
    request: ({ api, ownerFilter, headers }, { input }) => api.iframes.post(input, { query: ownerFilter, headers }),
    note: ({ id }) => `Put it on a page: svc-admin widgets snippet ${id}`,
  }),
  command`update ID: Change a widget
  Settings that you do not name stay the same, also inside a group of members.
  $ widgets update ${ID} --accent "#0f766e"
  $ widgets update ${ID} -f shop.json --json`({
    flags: looks,
    find: async (shell, { id: _, ...given }) => ({ patch: await inputOf(shell, given) }),
    action: ({ id, patch }) => `change ${Object.keys(patch).join(', ') || 'nothing'} of widget ${id}`,
    request: ({ api }, { id, patch }) => api.iframes({ id }).patch(patch),
  }),
  plain.enable,
  plain.disable,
  command`duplicate ID: Copy a widget
  The copy has the same key and design, but no conversations.
  $ widgets duplicate ${ID}
  $ widgets duplicate ${ID} --name "Second shop" --json`({
    flags: { name: looks.name },
    action: ({ id }) => `copy widget ${id}`,
    request: ({ api, headers }, { id, name }) => api.iframes({ id }).duplicate.post(defined({ name }), { headers }),
  }),
  plain.remove,
  command`preview ID: Create a link that shows a widget for 15 minutes
  Anyone with the link sees the widget, even if its origins do not allow the page.
  $ widgets preview ${ID} --open
  $ widgets preview ${ID} --json`({
    columns: columnsOf`preview_url URL, expires_at UNTIL time`,
    flags: { open: flag('open it in the browser') },
    request: ({ api }, { id }) => api.iframes({ id })['preview-token'].post(),
    async note({ preview_url }, { open }, shell) {
      if (open) await openLink(shell, preview_url)
      return undefined
    },
  }),
  command`verify-domain ID (exits 3 9): Show the proof of domain ownership, and check it
  The proof is a TXT record, or with --by file a file. Exits 9 until it is found.
  $ widgets verify-domain ${ID} shop.example
  $ widgets verify-domain ${ID} shop.example --by file --json`({
    columns: columnsOf`domain DOMAIN, verified VERIFIED flag, record PROOF wide`,
    args: { domain: argument('host name') },
    flags: { by: choice(['dns', 'file'], 'kind of proof') },
    request: ({ api }, { id, domain, by: method = 'dns' }) => api.iframes({ id }).verify.post({ domain, method }),
    note: ({ verified, record }) =>
      verified ? undefined : `Not found yet. Put ${record.value} at ${record.name}, then run this again.`,
    ok: ({ verified }) => verified,
  }),
  command`snippet ID: Show the tag that adds a widget to a page
  Put the tag before the end of the body. --page prints a whole page to test with.
  $ widgets snippet ${ID}
  $ widgets snippet ${ID} --page`({
    columns: snippetColumns,
    flags: { page: flag('print a whole HTML page') },
    async run(shell, { id, page }) {
      const { embed_snippet, name } = expectData(await (await apiOf(shell)).api.iframes({ id }).get())
      if (page) return shell.io.raw(pageWith(embed_snippet, name))
      shell.print.item({ embed_snippet }, snippetColumns)
    },
  }),
]

const pageWith = (tag: string, name: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(clean(name))}</title>
</head>
<body>
<h1>${Bun.escapeHTML(clean(name))}</h1>
<p>A page to try the chat with. Its origin must be one that the widget allows.</p>
${tag}
</body>
</html>
`
