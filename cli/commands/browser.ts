import { type At, apiOf, column, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { deliver, piecesOf } from '../files'
import { followRows, printEach } from '../pages'
import { rowArgument } from '../resource'
import type { Shell } from '../shell'
import { choice, duration, flag, needed, text, words } from '../words'
import { openLink } from './open'

/** Only open sessions are listed. One that has ended is named by its whole id. */
const openSessions = async (shell: Shell) => {
  const { api, ownerFilter } = await apiOf(shell)
  const { sessions } = expectData(await api.browser.sessions.get({ query: ownerFilter }))
  return sessions.map(({ session_id: id }) => ({ id }))
}
const args = { id: rowArgument('session', openSessions, /^bb_sess_\w{24}$/) }
const ID = 'bb_sess_…'

const browserColumns = columnsOf`
  session_id SESSION keep, status STATE, current_url PAGE, expires_at LEFT time, live_view_version VIEW number min,
  viewers VIEWERS number min, api_key_id KEY min, owner OWNER wide, current_title TITLE wide,
  last_active_at USED time wide, started_at BEGUN time wide`

const command = commandsOf('browser', { apis: ['tenant', 'operator'], offline: false, columns: browserColumns, args })
const TOOLS = ['act', 'navigate', 'extract', 'observe', 'screenshot'] as const

/** Turns the words after the id into the arguments of a tool. */
const argumentsOf = (tool: (typeof TOOLS)[number], text: string | undefined): Record<string, unknown> => {
  if (tool === 'screenshot') return {}
  if (tool === 'navigate') return { url: text ?? '' }
  return text === undefined ? {} : { instruction: text }
}

const endColumns = columnsOf`
  session_id SESSION keep, duration_seconds SECONDS number, proxy_bytes PROXY BYTES number, cost_cents COST¢ money`

const linkColumns = columnsOf`session_id SESSION keep, url LINK keep, rights RIGHTS, expires_at UNTIL time`
const viewing = { exits: [3, 9], columns: linkColumns, args } as const
const ttl = duration('DURATION', 'how long the link works, from 1m to 60m; operators only')

type Link = { id: string; ttl: number | undefined; readOnly?: boolean; open?: boolean; control?: boolean }
const MINUTE_MS = 60_000

/** Creates a link, and opens it unless it was only asked for. */
const linking = {
  action({ id, ttl }: Link) {
    if (ttl === undefined || (ttl >= MINUTE_MS && ttl <= 60 * MINUTE_MS)) return `create a link to session ${id}`
    throw usageFailure('--ttl must be from 1m to 60m.')
  },
  async answer(at: At, { id, ttl, readOnly = false, control = !readOnly }: Link) {
    const one = at.api.browser.sessions({ id })
    if (at.isOperator) {
      const input = { control, ...(ttl === undefined ? {} : { ttl_seconds: Math.floor(ttl / 1_000) }) }
      return expectData(await one.link.post(input))
    }
    if (ttl !== undefined) throw usageFailure('--ttl needs an operator; the link of a key works for 60 minutes.')
    const { session_id, live_view_url, embed_url, embed_token_expires_at, ended_reason } = expectData(await one.get())
    const url = control ? embed_url : live_view_url
    if (url !== null)
      return { session_id, url, rights: control ? 'control' : 'view', expires_at: embed_token_expires_at }
    at.shell.note(`The session has ended: ${ended_reason}.`)
    throw new CheckFailed()
  },
  async note({ url }: { url: string }, { open = false }: Link, shell: Shell) {
    if (open) await openLink(shell, url)
    return undefined
  },
}

type Picture = { url: string; size_bytes: number; width: number; height: number }

const stepsColumns = columnsOf`
  at AT time, after_s AFTER number ${({ after_s }) => `${Number(after_s).toFixed(1)} s`}, by BY, tool TOOL,
  input WHAT, ok DONE flag, result RESULT wide, url PAGE wide`

export const browserCommands = [
  command`list (shows sessions): List the open browser sessions
  On the server's machine it lists all sessions, or with --org those of one organization or user. Over --url it lists those of your key.
  $ browser list
  $ browser list --watch
  $ browser list --org acme --json`({
    request: ({ api, ownerFilter }) => api.browser.sessions.get({ query: ownerFilter }),
    empty: 'No browser session is open.',
  }),
  command`get ID: Show one browser session: page, end and viewers
  Also shows a session that has ended, with the reason. With --watch it is read again every two seconds.
  $ browser get ${ID}
  $ browser get ${ID} --watch`({ request: ({ api }, { id }) => api.browser.sessions({ id }).get() }),
  command`create (exits 3 6): Start a browser session of your own and print its link
  The session belongs to the key in use, which pays for its minutes. Anyone with the link can watch and control it for one hour.
  $ browser create --page https://example.com
  $ browser create --keep-alive --json`({
    columns: [...browserColumns, column('embed_url', 'LINK', { wide: true })],
    flags: {
      page: text('URL', 'public address to open first'),
      keepAlive: flag('do not end the session when it is idle'),
      proxy: flag("use the server's proxy; charged per MB"),
      region: text('NAME', 'region to run in'),
      noRecord: flag('do not record the steps'),
    },
    action: () => 'start a browser session',
    async request({ shell, headers }, { page: url, keepAlive, proxy, region, noRecord }) {
      const { client } = await (await shell.connect()).tenant()
      const record = noRecord ? false : undefined
      const input = { url, keep_alive: keepAlive || undefined, proxies: proxy || undefined, region, record }
      return client.browser.sessions.post(defined(input), { headers })
    },
    note: ({ embed_url }) => `Watch it: ${embed_url}`,
  }),
  command`act ID (exits 3 6 9): Do one thing on the page that you describe in plain words
  Runs browser_act. --tool picks another of the five tools: navigate to an address, extract data, observe what can be clicked, or take a screenshot. Exits 9 when the tool fails.
  $ browser act ${ID} "click Sign in"
  $ browser act ${ID} https://example.com --tool navigate
  $ browser act ${ID} "every price" --tool extract --json`({
    columns: columnsOf`
      tool TOOL, status STATUS, result RESULT ${({ result }) => JSON.stringify(result)},
      live_view_version VIEW number wide, cost_cents COST¢ money wide`,
    args: { said: words('what to do, or the address') },
    flags: { tool: choice(TOOLS, 'which tool; act by default') },
    action: ({ id, tool = 'act' }) => `run browser_${tool} in session ${id}`,
    request: ({ api, headers }, { id, said: instruction, tool = 'act' }) =>
      api.browser
        .sessions({ id })
        .actions.post(
          { tool: `browser_${tool}` as const, arguments: argumentsOf(tool, instruction?.join(' ') || undefined) },
          { headers },
        ),
    ok: ({ status }) => status !== 'error',
  }),
  command`end (moderate, exits 3): End browser sessions and print what they cost
  --all ends every session that browser list shows; with --org, those of one owner. Recorded as browser.session_ended.
  $ browser end ${ID}
  $ browser end --all --org acme --yes`({
    columns: endColumns,
    args: { ids: { ...words('ids of the sessions, or the start of each id'), idFor: args.id.idFor } },
    flags: { all: flag('all that are open') },
    async find(shell, { ids, all }) {
      if (!all === !ids.length)
        throw usageFailure('browser end needs ids of sessions, or --all.', 'svc-admin browser list shows them')
      if (!all) return { named: ids }
      const { api, ownerFilter } = await apiOf(shell)
      const { sessions } = expectData(await api.browser.sessions.get({ query: ownerFilter }))
      return { named: sessions.map(({ session_id }) => session_id) }
    },
    action: ({ named }) => `end ${named.length === 1 ? `session ${named[0]}` : `${named.length} sessions`}`,
    question: ({ named }) => (named.length ? undefined : null),
    async run(shell, { named }) {
      const { api } = await apiOf(shell)
      const end = async (id: string) => expectData(await api.browser.sessions({ id }).delete())
      await printEach(shell, endColumns, named, end, 'No browser session is open.')
    },
  }),
  command`live: Create a link to the live view
  Anyone with the link sees the browser and can control it; with --read-only they can only watch. It works for 60 minutes, or for the time of --ttl. A link of an operator is recorded as browser.link_created.
  $ browser live ${ID} --read-only --ttl 10m
  $ browser live ${ID} --open`({
    ...viewing,
    flags: {
      readOnly: flag('the link shows the page and cannot control it'),
      ttl,
      open: flag('open it in the web browser of this machine'),
    },
    ...linking,
  }),
  command`open: Open the live view in the web browser of this machine
  The same as browser live --open --read-only; with --control you can control the page. It prints the link too.
  $ browser open ${ID}
  $ browser open ${ID} --control --json`({
    ...viewing,
    flags: { control: flag('the link can also control the page'), ttl },
    find: async (_, { control = false }) => ({ control, open: true }),
    ...linking,
  }),
  command`screenshot ID (exits 3 6 9): Save a screenshot of the page
  Saves a PNG of the visible page, or with --full-page of the whole page. It is also an artifact of the session.
  $ browser screenshot ${ID} --out page.png
  $ browser screenshot ${ID} --out page.png --full-page`({
    columns: columnsOf`
      session_id SESSION keep, file FILE keep, size_bytes BYTES number, width WIDTH number, height HEIGHT number`,
    flags: {
      out: needed(text('FILE', 'where to save it'), 'add --out page.png'),
      fullPage: flag('include what is below the visible part'),
    },
    action: ({ id }) => `take a picture of session ${id}`,
    async answer({ api, headers, shell }, { id, out, fullPage }) {
      const input = { tool: 'browser_screenshot' as const, arguments: fullPage ? { full_page: true } : {} }
      const done = expectData(await api.browser.sessions({ id }).actions.post(input, { headers }))
      const { artifact, message } = done.result as { artifact?: Picture; message?: string }
      if (!artifact) {
        shell.note(message ?? 'The screenshot is missing.')
        throw new CheckFailed()
      }
      const connection = await shell.connect()
      await deliver(shell, await piecesOf(await connection.follow(artifact.url)), out)
      return { ...artifact, session_id: id, file: out }
    },
  }),
  command`steps ID: List the steps of a browser session, oldest first
  Shows the seconds since the session began. Works for ended sessions too. Below the steps it prints a link that plays the session with its screenshots.
  $ browser steps ${ID}
  $ browser steps ${ID} --follow
  $ browser steps ${ID} --json`({
    columns: stepsColumns,
    flags: { follow: { ...flag('keep printing new steps, as browser watch does'), short: 'f' } },
    async run(shell, { id, follow: follows }) {
      if (follows) return follow(shell, id)
      const recording = await recordingOf(shell, id)
      shell.print.list(timed(recording), stepsColumns, 'No steps, or the session does not record them.')
      shell.note(`Play it: ${recording.player_url}`)
    },
  }),
  command`watch ID: Print each step of a session as it happens
  Starts with the steps so far. Runs until the session ends or you press Ctrl-C.
  $ browser watch ${ID}
  $ browser watch ${ID} --url http://127.0.0.1:3400`({
    columns: stepsColumns,
    run: (shell, { id }) => follow(shell, id),
  }),
]

async function recordingOf(shell: Shell, id: string) {
  return expectData(await (await apiOf(shell)).api.browser.sessions({ id }).recording.get())
}

const timed = ({ actions, started_at }: Awaited<ReturnType<typeof recordingOf>>) =>
  actions.map((action) => ({ ...action, after_s: (Date.parse(action.at) - Date.parse(started_at)) / 1_000 }))

/** Prints each action once, as it happens, until the session ends or Ctrl-C: as a table or as JSON lines. */
async function follow(shell: Shell, id: string): Promise<void> {
  let ended: string | null = null
  await followRows(shell, stepsColumns, async () => {
    const recording = await recordingOf(shell, id)
    ended = recording.ended_at
    return { rows: timed(recording), isOver: ended !== null }
  })
  if (ended !== null) shell.note(`It ended at ${ended}.`)
}
