import { expect, test } from 'bun:test'
import { slowness } from '../../support/effort'
import { eventually } from '../../support/eventually'
import type { Block } from './server'
import type { Target } from './target'

const MOST_BLOCK_MS = 200
/** A disk that others keep busy can hold up a commit for longer than that; no test can tell it not to. */
const MOST_WAIT_MS = 1_000

/** When the event loop stood still for longer than it may (I28), on a machine that many times slower than usual. */
export const tooLong = (blocks: readonly Block[], slower: number): Block[] =>
  blocks.filter(
    ({ ms, ranMs }) =>
      ms > MOST_WAIT_MS * slower || (ms > MOST_BLOCK_MS * slower && ranMs > (MOST_BLOCK_MS * slower) / 2),
  )
const SLOW_HEALTH_MS = 100
/** One in a hundred; a file is too short for that to be measured finer than by these. */
const MOST_SLOW = 3

type Promises = {
  /** Some rows provoke 5xx answers on purpose. */
  faults?: boolean
  /** Secrets beyond the callers' own that must not be printed. */
  canaries?: readonly string[]
}

/** The global oracle of reliability 3, asked once everything in the file has run. */
export function keepsItsPromises(target: Target, { faults = false, canaries = [] }: Promises = {}): void {
  test('and afterwards the same process is there, sound, quick and discreet', async () => {
    await eventually(
      () => heldBy(target),
      (held) => held === 0,
    )
    const verified = await target.ops('POST', '/ops/v1/verify')
    expect(verified.body).toMatchObject({ ok: true })

    const metrics = (await target.ops('GET', '/metrics')).text
    await target.health.stop()
    expect(target.alive()).toBe(true)
    expect(metrics).toContain('svc_unhandled_errors_total 0')
    if (!faults) expect(metrics).not.toMatch(/svc_http_requests_total\{[^}]*status="5/)

    const printed = target.printed()
    const told = [...Object.values(target.people.secrets), ...canaries].filter((secret) => printed.includes(secret))
    expect(told).toEqual([])
    expect(printed.match(/canary/g)).toBeNull()

    const slower = await slowness()
    const slow = target.health.latencies().filter((ms) => ms > SLOW_HEALTH_MS * slower)
    expect(slow.length).toBeLessThanOrEqual(Math.max(MOST_SLOW, target.health.latencies().length / 100))
    expect(tooLong(target.blocks(), slower)).toEqual([])
  })
}

/** Cents that are reserved by calls that have ended: there are none (I8). */
async function heldBy(target: Target): Promise<number> {
  const held = await Promise.all(target.people.everyone().map(async (email) => (await target.moneyOf(email)).held))
  return held.reduce((sum, each) => sum + each, 0)
}
