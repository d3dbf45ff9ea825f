import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { bundled, NO_RELEASE, RELEASE_FACTS, type Release, ROOT } from '../../src/app/bundle'
import { clean } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { CheckFailed, expectData } from '../failure'
import { spellSpan } from '../output/time'
import { flag } from '../words'

const command = commandsOf('', { apis: ['host'], exits: [] })

/** Each violation is printed on its own line below. All of them in one cell would make every row of a pipe too wide. */
const firstViolation = ({ violations }: Record<string, unknown>) => {
  const [first, ...others] = violations as string[]
  return first === undefined ? '-' : `${others.length + 1}: ${first}`
}
const verifyColumns = columnsOf`check CHECK, ok HOLDS flag, violations VIOLATIONS ${firstViolation}, ms MS number`

export const verify =
  command`verify (operator, watchable, exits 9): Check the integrity of the store: ledger, holds, audit chain
  Prints each check and what fails it. Exits 9 when a check fails. Nothing is changed. Works on a running server, on a stopped one, and with --data-dir on a copy of a data folder.
  $ verify
  $ verify --data-dir ./copy --json
  $ verify -q && echo sound`({
    columns: verifyColumns,
    async run(shell) {
      const { ok, checks } = expectData(await (await shell.connect()).ops().verify.post())
      const rows = checks.map((check) => ({ ...check, ok: check.violations.length === 0 }))
      if (!shell.globals.quiet) shell.print.list(rows, verifyColumns, 'Nothing was checked.')
      for (const { check, violations } of checks) {
        for (const violation of violations)
          shell.io.err(`${shell.paint('bad', 'broken:')} ${clean(`${check}: ${violation}`)}`)
      }
      if (!ok) throw new CheckFailed()
    },
  })

export const version = command`version: Print the versions of svc and its runtime
  Needs no server and no configuration. \`svc-admin --version\` prints the same. The commit and the hash of the OpenAPI document come from the bundle; without a bundle they are unknown.
  $ version`({
  columns: columnsOf`
  version SVC, commit COMMIT, bun BUN, platform PLATFORM, migrations MIGRATIONS number, openapi OPENAPI`,
  async run(shell) {
    const file = bundled(RELEASE_FACTS)
    const { commit, openapi } = file ? json<Release>(file) : NO_RELEASE
    // Both databases have the same number of migrations.
    const facts = {
      version: manifest.version,
      commit,
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
      migrations: json<{ entries: unknown[] }>(join(ROOT, 'drizzle/sqlite/meta/_journal.json')).entries.length,
      openapi,
    }
    shell.print.item(facts, version.columns!)
  },
})

const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8'))

type Row = Record<string, unknown>

const database = ({ database }: Row) => {
  const { dialect, place, latency_ms, ok } = database as Row
  return `${dialect} ${place}, ${ok ? `${latency_ms} ms` : 'does not answer'}`
}
const migrations = ({ database }: Row) => {
  const { migrations_applied, migrations_known } = database as Row
  return migrations_applied === null ? 'not known' : `${migrations_applied} of ${migrations_known}`
}
const redisState = ({ redis }: Row) => {
  const { problem, latency_ms } = (redis ?? {}) as Row
  return redis ? String(problem ?? `${latency_ms} ms`) : 'none'
}
const engineCounts = ({ engines }: Row) => {
  const { connected, builtin, failing } = engines as Row
  return `${connected} modes by upstreams, ${builtin} by svc itself${failing ? `, ${failing} failing` : ''}`
}
const nodeCounts = ({ nodes }: Row) => {
  const { count, unserved, scattered_files } = nodes as Row
  const missing = (unserved as string[]).length ? `, none with ${(unserved as string[]).join(', ')}` : ''
  return `${count}${missing}${scattered_files ? ', files in different folders' : ''}`
}
const clockState = ({ nodes }: Row) => {
  const { clock_ahead_ms } = nodes as { clock_ahead_ms: number }
  const seconds = Math.round(Math.abs(clock_ahead_ms) / 1_000)
  return seconds ? `${seconds} s ${clock_ahead_ms > 0 ? 'ahead of' : 'behind'} the database` : 'that of the database'
}

const columns = columnsOf`
  version VERSION, mode MODE, health HEALTH, transport TRANSPORT, why BECAUSE, api_url API, public_url PUBLIC URL,
  data_dir DATA, database.dialect DATABASE ${database}, database.migrations_applied MIGRATIONS ${migrations},
  redis REDIS ${redisState}, engines.connected ENGINES ${engineCounts}, nodes.count NODES ${nodeCounts},
  nodes.clock_ahead_ms CLOCK ${clockState}, operator.role ROLE, pid PID number, started_at STARTED time`

export const status = command`status (operator, watchable, exits 9): Show the state of the server on one screen
  Also shows how this command reached the server, and why. Without a server it reads the data folder itself, and shows the health "not running". --check exits 9 unless a healthy server runs here or at --url.
  $ status
  $ status --check -q
  $ status --watch=5s
  $ status --json`({
  columns,
  flags: { check: flag('exit 9 when not healthy') },
  async run(shell, { check }) {
    const connection = await shell.connect()
    const answer = expectData(await connection.ops().status.get())
    const { kind, why } = connection.transport
    const isUp = kind !== 'local'
    // Without a server the command itself answered, so its health and process are not the server's.
    const found = isUp ? answer : { ...answer, health: 'not running', pid: null, started_at: null }
    if (!(check && shell.globals.quiet)) shell.print.item({ ...found, transport: kind, why }, columns)
    if (isUp) shell.note(`up for ${spellSpan(Math.max(1_000, Date.parse(answer.now) - Date.parse(answer.started_at)))}`)
    else shell.note('No server is running. Start it: svc-admin serve')
    if (check && found.health !== 'healthy') throw new CheckFailed()
  },
})
