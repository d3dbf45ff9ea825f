import { clean } from '../../src/kernel/text'
import type { NewWidget } from '../../src/widgets/schema'
import { apiOf, defined, onceHeaders } from '../api'
import { commandsOf } from '../command'
import { EXIT, expectData } from '../failure'
import { readValueFile } from '../files'
import { columnsOf } from '../output/columns'
import type { Shell } from '../shell'
import { argument, choice, flag, list, text } from '../words'
import { switchCommands } from './resource-commands'

const args = { id: argument('id of the widget') }
const ID = '31aa07c2-…'

/** The routes of one widget, over either API. */
async function widgetAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  const one = api.iframes({ id: encodeURIComponent(id) })
  return { one }
}

const previewColumns = columnsOf`preview_url URL, expires_at UNTIL time`
const columns = columnsOf`
  id, name NAME, status STATUS, api_key_id KEY wide, embed_snippet TAG wide, created_at CREATED time`

const command = commandsOf('widgets', { apis: ['tenant', 'operator'], columns })

const previewWidget = command('preview', {
  columns: previewColumns,
  summary: 'Create a link that shows a widget for 15 minutes',
  about: 'Anyone with the link sees the widget, even if its origins do not allow the page.',
  examples: [`widgets preview ${ID} --open`, `widgets preview ${ID} --json`],
  args,
  flags: { open: flag('open it in the browser') },
  async run(shell, { id, open }) {
    const { one } = await widgetAt(shell, id)
    const made = expectData(await one['preview-token'].post())
    shell.print.item(made, previewColumns)
    if (open) openInBrowser(shell, made.preview_url)
  },
})

const domainColumns = columnsOf`domain DOMAIN, verified VERIFIED flag, record PROOF wide`
const verifyDomain = command('verify-domain', {
  columns: domainColumns,
  summary: 'Show the proof of domain ownership, and check it',
  about: 'The proof is a TXT record, or with --by file a file. Exits 9 until it is found.',
  examples: [`widgets verify-domain ${ID} shop.example`, `widgets verify-domain ${ID} shop.example --by file --json`],
  exits: [3, 9],
  args: { ...args, domain: argument('host name') },
  flags: { by: choice(['dns', 'file'], 'kind of proof') },
  async run(shell, { id, domain, by = 'dns' }) {
    const { one } = await widgetAt(shell, id)
    const checked = expectData(await one.verify.post({ domain, method: by }))
    shell.print.item(checked, domainColumns)
    if (checked.verified) return
    shell.note(`Not found yet. Put ${checked.record.value} at ${checked.record.name}, then run this again.`)
    shell.exitCode = EXIT.checkFailed
  },
})

const snippetColumns = columnsOf`embed_snippet TAG`
const showSnippet = command('snippet', {
  columns: snippetColumns,
  summary: 'Show the tag that adds a widget to a page',
  about: 'Put the tag before the end of the body. --page prints a whole page to test with.',
  examples: [`widgets snippet ${ID}`, `widgets snippet ${ID} --page`],
  args,
  flags: { page: flag('print a whole HTML page') },
  async run(shell, { id, page }) {
    const { one } = await widgetAt(shell, id)
    const { embed_snippet, name } = expectData(await one.get())
    if (page) return shell.io.raw(pageWith(embed_snippet, name))
    shell.print.item({ embed_snippet }, snippetColumns)
  },
})

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

/** With $BROWSER, or what the system opens links with; where that fails the address stands above. */
function openInBrowser(shell: Shell, url: string): void {
  const program = shell.env.BROWSER || (process.platform === 'darwin' ? 'open' : 'xdg-open')
  try {
    Bun.spawn([program, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref()
  } catch {
    shell.note(`${program} could not be started. Open the address yourself.`)
  }
}

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
  const given = defined({
    name,
    security: origin && { ...from.security, allowedOrigins: origin },
    appearance: accent === undefined ? undefined : { ...from.appearance, primaryColor: accent },
    behavior: welcome === undefined ? undefined : { ...from.behavior, welcomeMessage: welcome },
  })
  return { ...from, ...given }
}

const createWidget = command('create', {
  summary: 'Create a widget',
  about:
    "The key pays for the widget and answers in it. Without --origin, the key's own origins can show it. If the key has none, no page can.",
  examples: [
    `widgets create --key ${ID} --origin https://shop.example`,
    `widgets create --key ${ID} -f shop.json --json`,
  ],
  impact: 'write',
  flags: { key: text('KEY', 'id of the key that pays'), ...looks },
  async run(shell, { key, ...message }) {
    const input = { ...(await inputOf(shell, message)), ...(key === undefined ? {} : { api_key_id: key }) } as NewWidget
    if (shell.planned(`create the widget ${input.name ?? 'My Widget'}`)) return
    const { api, ownerFilter } = await apiOf(shell)
    const made = expectData(await api.iframes.post(input, { query: ownerFilter, headers: onceHeaders(shell) }))
    shell.print.item(made, columns)
    shell.note(`Put it on a page: svc-admin widgets snippet ${made.id}`)
  },
})

const updateWidget = command('update', {
  summary: 'Change a widget',
  about: 'Settings that you do not name stay the same, also inside a group of members.',
  examples: [`widgets update ${ID} --accent "#0f766e"`, `widgets update ${ID} -f shop.json --json`],
  impact: 'write',
  args,
  flags: looks,
  async run(shell, { id, ...message }) {
    const patch = await inputOf(shell, message)
    if (shell.planned(`change ${Object.keys(patch).join(', ') || 'nothing'} of widget ${id}`)) return
    const { one } = await widgetAt(shell, id)
    shell.print.item(expectData(await one.patch(patch)), columns)
  },
})

const duplicateWidget = command('duplicate', {
  summary: 'Copy a widget',
  about: 'The copy has the same key and design, but no conversations.',
  examples: [`widgets duplicate ${ID}`, `widgets duplicate ${ID} --name "Second shop" --json`],
  impact: 'write',
  args,
  flags: { name: looks.name },
  async run(shell, { id, name }) {
    if (shell.planned(`copy widget ${id}`)) return
    const { one } = await widgetAt(shell, id)
    shell.print.item(
      expectData(await one.duplicate.post(name === undefined ? {} : { name }, { headers: onceHeaders(shell) })),
      columns,
    )
  },
})

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
  createWidget,
  updateWidget,
  plain.enable,
  plain.disable,
  duplicateWidget,
  plain.remove,
  previewWidget,
  verifyDomain,
  showSnippet,
]
