import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument } from '../words'

const columns = [
  column('at', 'AT', { kind: 'time' }),
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
  danger: 'none',
  exits: [3, 4, 7],
} as const
const args = { id: argument('id of the session') }
const ID = 'bb_sess_…'
const WATCH_MS = 1_000

async function recordingOf(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return expectData(await api.browser.sessions({ id: encodeURIComponent(id) }).recording.get())
}

const listSteps = defineCommand({
  ...common,
  columns,
  path: 'browser steps',
  summary: 'List what was done in a browser session, oldest first',
  about: 'Also of one that has ended. The link that plays it with its pictures is printed below.',
  examples: [`browser steps ${ID}`, `browser steps ${ID} --json`],
  args,
  async run(shell, { id }) {
    const { actions, player_url } = await recordingOf(shell, id)
    shell.print.list(actions, columns, 'Nothing was done, or nothing is kept of it.')
    shell.note(`Play it: ${player_url}`)
  },
})

const watchSteps = defineCommand({
  ...common,
  path: 'browser watch',
  summary: 'Print a line for each thing that is done in a session',
  about: 'Begins with what was done already. Runs until the session ends or it is interrupted.',
  examples: [`browser watch ${ID}`, `browser watch ${ID} --url http://127.0.0.1:3400`],
  args,
  async run(shell, { id }) {
    for (let told = 0; !shell.signal.aborted; ) {
      const { actions, ended_at } = await recordingOf(shell, id)
      for (const { at, by, tool, input, ok, url } of actions.slice(told)) {
        shell.note([at, by, tool, input, ok ? 'done' : 'failed', url].filter(Boolean).join('  '))
      }
      told = actions.length
      if (ended_at !== null) return shell.note(`It ended at ${ended_at}.`)
      await shell.clock.sleep(WATCH_MS, shell.signal)
    }
  },
})

export const browserStepCommands = [listSteps, watchSteps]
