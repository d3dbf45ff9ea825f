/**
 * `bun run prove deliveries [--events=5000] [--kill-every=3000] [--seconds=180] [--seed=1]`: events to three receivers
 * that refuse 30 %, and runs of a workflow, while nodes are killed; on SQLite, and on Postgres with two nodes. Exits 1
 * on an event that did not arrive, bytes or signatures that changed, a step that acted twice or never, and work that
 * stood longer than a lease.
 */
import { findPostgres } from '../run/postgres'
import { LEASE_S, runDeliveryKills } from './kills'

const option = (name: string, fallback: number): number =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
const events = option('events', 5_000)
const kills = { everyMs: option('kill-every', 3_000), eventsASecond: events / option('seconds', 180) }
const input = { events, kills, seed: option('seed', 1) }
let problems = 0

report('SQLite', await runDeliveryKills({ ...input, postgres: undefined }))
const found = await findPostgres()
if ('missing' in found) process.stdout.write(`Postgres: NOT RUN, ${found.missing}\n`)
else {
  report('Postgres', await runDeliveryKills({ ...input, postgres: found.url }))
  await found.stop()
}
process.exit(problems ? 1 : 0)

function report(where: string, { problems: list, ...of }: Awaited<ReturnType<typeof runDeliveryKills>>): void {
  const seconds = (of.afterMs / 1_000).toFixed(1)
  process.stdout.write(
    `${where}: ${of.events} events in ${of.attempts} attempts, ${of.flows} runs with ${of.repeated} calls repeated, ` +
      `${of.kills} kills, all done ${seconds} s after the last event, what was due or had lost its worker stood ` +
      `${(of.overdueMs / 1_000).toFixed(1)} s at most (lease ${LEASE_S} s), ${list.length} problems\n`,
  )
  for (const problem of list) process.stdout.write(`  ${problem}\n`)
  problems += list.length
}
