import { eventually } from '../support/eventually'
import { type Random, seededRandom } from '../support/random'
import { startUpstream } from '../support/upstream'
import { CLIENTS } from './load'
import { createRig, type Rig } from './rig'

export type Report = {
  cycles: number
  acks: number
  /** Of requests that a kill left without an answer, how many had one kept. */
  replays: number
  /** Everything that was lost, doubled or wrong, in sentences. */
  violations: string[]
  bootMs: number[]
}

type Options = {
  cycles: number
  seed: number
  /** URL of the Postgres server behind it; SQLite without. */
  postgres?: string | null
  onCycle?(report: Report): void
}

/** A data folder is started anew after so many kills, so that checking it costs the same all along. */
const CYCLES_A_FOLDER = 25
/** A kill that comes before anything was acknowledged finds nothing: on a slow machine it waits for that. */
const ACKS_A_CYCLE = 15
/** One kill in so many is not left to chance: it comes between a commit and its answer. */
const AIMED = 4
/** So many kills in a hundred must fall between a commit and its answer, or nothing is known of them. */
export const REPLAYS_A_CYCLE = 20 / 100
const KILL_AFTER_MS = { min: 100, max: 800 }

/**
 * T-KILL (docs/promises.md I1, I2, I6, I8, I9, I10, I11, I19): the real server under 32 clients, killed with SIGKILL at
 * a random instant, started again, over and over. Nothing acknowledged may be gone or changed, nothing
 * charged twice, no hold left open. What a kill left without an answer is asked again under its key (docs/promises.md
 * I2, I10, I11).
 */
export async function runKills({ cycles, seed, postgres = null, onCycle = () => undefined }: Options): Promise<Report> {
  const report: Report = { cycles: 0, acks: 0, replays: 0, violations: [], bootMs: [] }
  const upstream = await startUpstream()
  const random = seededRandom(seed)
  try {
    while (report.cycles < cycles) {
      const rig = await createRig(upstream, postgres)
      await runFolder(rig, Math.min(CYCLES_A_FOLDER, cycles - report.cycles))
      await rig.close()
      report.acks += rig.witness.acks()
      report.replays += rig.witness.replays()
      report.violations.push(...rig.violations)
    }
  } finally {
    await upstream.stop()
  }
  return report

  async function runFolder(rig: Rig, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const isAimed = round % AIMED === AIMED - 1
      const server = await boot(rig, isAimed ? { SVC_FAILPOINT: aimedAt(random) } : {})
      await rig.checkLive(server, 'new')
      const before = rig.witness.acks()
      const busy = () => eventually(() => rig.witness.acks() - before >= ACKS_A_CYCLE)
      const timed = () => Bun.sleep(random.between(KILL_AFTER_MS.min, KILL_AFTER_MS.max)).then(busy)
      await rig.load(server, random, isAimed ? server.exited : timed())
      await rig.checkCopy()
      upstream.reset()
      report.cycles += 1
      onCycle({ ...report, violations: [...report.violations, ...rig.violations] })
    }
    const last = await boot(rig)
    await rig.checkLive(last, 'all')
    if ((await last.stop()) !== 0) rig.violations.push('SIGTERM did not end the server with exit 0')
  }

  async function boot(rig: Rig, env: Record<string, string> = {}) {
    const server = await rig.boot(env)
    report.bootMs.push(server.bootMs)
    return server
  }
}

/** After the retries of the last cycle, between the commit of an answer and the answer. */
const aimedAt = (random: Random) => `answer_kept_before_ack:${CLIENTS + random.between(5, 60)}`
