import { clean } from '../../src/kernel/text'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { EXIT, expectData } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument, choice, flag } from '../words'

const common = { apis: ['tenant', 'operator'] } as const
const args = { id: argument('id of the widget') }
const ID = '31aa07c2-…'

/** The routes of one widget, over either API. */
export async function widgetAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  const one = api.iframes({ id: encodeURIComponent(id) })
  return { one }
}

const previewColumns = [column('preview_url', 'URL'), column('expires_at', 'UNTIL', { kind: 'time' })]
const previewWidget = defineCommand({
  ...common,
  columns: previewColumns,
  path: 'widgets preview',
  summary: 'Create a link that shows a widget for 15 minutes',
  about: 'Anyone with the link sees the widget, even if its origins do not allow the page.',
  examples: [`widgets preview ${ID} --open`, `widgets preview ${ID} --json`],
  impact: 'read',
  exits: [3],
  args,
  flags: { open: flag('open it in the browser') },
  async run(shell, { id, open }) {
    const { one } = await widgetAt(shell, id)
    const made = expectData(await one['preview-token'].post())
    shell.print.item(made, previewColumns)
    if (open) openInBrowser(shell, made.preview_url)
  },
})

const domainColumns = [
  column('domain', 'DOMAIN'),
  column('verified', 'VERIFIED', { kind: 'flag' }),
  column('record', 'PROOF', { wide: true }),
]
const verifyDomain = defineCommand({
  ...common,
  columns: domainColumns,
  path: 'widgets verify-domain',
  summary: 'Show the proof of domain ownership, and check it',
  about: 'The proof is a TXT record, or with --by file a file. Exits 9 until it is found.',
  examples: [`widgets verify-domain ${ID} shop.example`, `widgets verify-domain ${ID} shop.example --by file --json`],
  impact: 'read',
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

const snippetColumns = [column('embed_snippet', 'TAG')]
const showSnippet = defineCommand({
  ...common,
  columns: snippetColumns,
  path: 'widgets snippet',
  summary: 'Show the tag that adds a widget to a page',
  about: 'Put the tag before the end of the body. --page prints a whole page to test with.',
  examples: [`widgets snippet ${ID}`, `widgets snippet ${ID} --page`],
  impact: 'read',
  exits: [3],
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

export const widgetShowCommands = [previewWidget, verifyDomain, showSnippet]
