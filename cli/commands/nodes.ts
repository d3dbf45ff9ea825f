import { counted } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { EXIT, expectData } from '../failure'
import { argument, duration, flag } from '../words'

const columns = columnsOf`
  id NODE, status STATUS, roles ROLES list, address ADDRESS, host HOST, version VERSION, load LOAD number,
  lag_ms LAG-MS number, connections CONNECTIONS number, jobs JOBS number, clock_ahead_ms CLOCK-MS number,
  since SINCE time, drain_at DRAINED time wide, pid PID number wide`

const args = { node: argument('id of a node, or the beginning of one') }
const LOOK_MS = 500

const command = commandsOf('nodes', { apis: ['operator'], columns, args })

export const nodeCommands = [
  command`list (exits, shows nodes): List the processes that serve this database
  Shows address, roles, version, load, event-loop delay, connections, jobs and clock of each node. The figures are two seconds old at most. On SQLite there is one node.
  $ nodes list
  $ nodes list --watch
  $ nodes list --json`({
    request: ({ ops }) => ops.nodes.get(),
    empty: 'No node serves this database. Start one: svc-admin serve',
  }),
  command`get NODE: Show one node
  Takes the id, or its first characters.
  $ nodes get Ab3`({ request: ({ ops }, { node }) => ops.nodes({ ref: node }).get() }),
  command`drain NODE (exits 3 5 8): Take a node out, and wait until it is empty
  From then on the node begins no job, and GET /health answers 503, so that a proxy sends requests elsewhere. It still answers those that come. The command ends when nothing is left to do; then stop the process. With --undo the node takes work again.
  $ nodes drain Ab3
  $ nodes drain Ab3 --wait 5m
  $ nodes drain Ab3 --undo`({
    flags: {
      wait: duration('60s', 'longest wait for the node to be empty; 0s does not wait'),
      undo: flag('take work again'),
    },
    action: ({ node, undo }) => (undo ? `let the node ${node} take work again` : `drain the node ${node}`),
    async run(shell, { node, wait = 60_000, undo }) {
      const one = (await shell.connect()).ops().nodes({ ref: node })
      let found = expectData(undo ? await one.drain.delete() : await one.drain.post())
      const until = shell.clock.monotonic() + wait
      while (!undo && found.status !== 'empty' && shell.clock.monotonic() < until) {
        await shell.clock.sleep(LOOK_MS, shell.signal)
        found = expectData(await one.get())
      }
      shell.print.item(found, columns)
      if (undo || found.status === 'empty' || wait === 0) return
      shell.note(
        `The node still has ${counted(found.connections ?? 0, 'connection')} and ${counted(found.jobs ?? 0, 'job')}. Wait longer with --wait 5m.`,
      )
      shell.exitCode = EXIT.pending
    },
  }),
]
