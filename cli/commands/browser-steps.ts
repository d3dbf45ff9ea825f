import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { isStructured } from '../output/print'
import type { Shell } from '../shell'
import { flag } from '../words'
import { args, ID } from './browser'

const columns = [
  column('at', 'AT', { kind: 'time' }),
  column('after_s', 'AFTER', { kind: 'number', show: ({ after_s }) => `${Number(after_s).toFixed(1)} s` }),
  column('by', 'BY'),
  column('tool', 'TOOL'),
  column('input', 'WHAT'),
  column('ok', 'DONE', { kind: 'flag' }),
  column('result', 'RESULT', { wide: true }),
  column('url', 'PAGE', { wide: true }),
]
const common = {
  apis: ['tenant', 'operator'],
  offline: false,
  impact: 'read',
  exits: [3],
} as const
const WATCH_MS = 1_000

async function recordingOf(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return expectData(await api.browser.sessions({ id: encodeURIComponent(id) }).recording.get())
}

type Recording = Awaited<ReturnType<typeof recordingOf>>
const timed = ({ actions, started_at }: Recording) =>
  actions.map((action) => ({ ...action, after_s: (Date.parse(action.at) - Date.parse(started_at)) / 1_000 }))

/** Prints each thing once, as it is done, until the session ends or Ctrl-C: a table on a terminal, else JSON lines. */
async function follow(shell: Shell, id: string): Promise<void> {
  const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
  const feed = asJson ? null : shell.print.feed(columns)
  for (let notice = 0; !shell.signal.aborted; ) {
    const recording = await recordingOf(shell, id)
    const fresh = timed(recording).slice(notice)
    if (feed) feed(fresh)
    else for (const action of fresh) shell.io.out(safeJson(action))
    notice = recording.actions.length
    if (recording.ended_at !== null) return shell.note(`It ended at ${recording.ended_at}.`)
    await shell.clock.sleep(WATCH_MS, shell.signal)
  }
}

const listSteps = defineCommand({
  ...common,
  columns,
  path: 'browser steps',
  summary: 'List the steps of a browser session, oldest first',
  about:
    'Shows the seconds since the session began. Works for ended sessions too. Below the steps it prints a link that plays the session with its screenshots.',
  examples: [`browser steps ${ID}`, `browser steps ${ID} --follow`, `browser steps ${ID} --json`],
  args,
  flags: { follow: { ...flag('keep printing new steps, as browser watch does'), short: 'f' } },
  async run(shell, { id, follow: goesOn }) {
    if (goesOn) return follow(shell, id)
    const recording = await recordingOf(shell, id)
    shell.print.list(timed(recording), columns, 'No steps, or the session does not record them.')
    shell.note(`Play it: ${recording.player_url}`)
  },
})

const watchSteps = defineCommand({
  ...common,
  path: 'browser watch',
  summary: 'Print each step of a session as it happens',
  about: 'Starts with the steps so far. Runs until the session ends or you press Ctrl-C.',
  examples: [`browser watch ${ID}`, `browser watch ${ID} --url http://127.0.0.1:3400`],
  args,
  run: (shell, { id }) => follow(shell, id),
})

export const browserStepCommands = [listSteps, watchSteps]
