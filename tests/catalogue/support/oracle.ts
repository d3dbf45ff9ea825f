import { expect, test } from 'bun:test'
import { slowness } from '../../support/effort'
import { eventually } from '../../support/eventually'
import type { Block } from './server'
import type { Target } from './target'

const MAX_BLOCK_MS = 200
/** A disk that others keep busy can hold up a commit for longer than that; no test can tell it not to. */
const MAX_WAIT_MS = 1_000

/** When the event loop stood still for longer than it may, on a machine that many times slower than usual. */
export const tooLong = (blocks: readonly Block[], slower: number): Block[] =>
  blocks.filter(
    ({ ms, ranMs }) => ms > MAX_WAIT_MS * slower || (ms > MAX_BLOCK_MS * slower && ranMs > (MAX_BLOCK_MS * slower) / 2),
  )
/** Connections that a full machine refused; a file is too short for a share of them to be measured. */
const MAX_UNANSWERED = 3

/** The event loop of the server has not stood still for longer than it may, so that others were served meanwhile. */
export const hasNotBlocked = async (target: Pick<Target, 'blocks'>): Promise<void> =>
  expect(tooLong(target.blocks(), await slowness())).toEqual([])

type Promises = {
  /** Some rows provoke 5xx answers on purpose. */
  faults?: boolean
  /** Secrets beyond the callers' own that must not be printed. */
  canaries?: readonly string[]
}

/** What must hold after every attack (docs/attacks.md), asked once everything in the file has run. */
export function keepsItsPromises(target: Target, { faults = false, canaries = [] }: Promises = {}): void {
  test('and afterwards the same process is there, sound, quick and discreet', async () => {
    await eventually(
      () => heldBy(target),
      (held) => held === 0,
    )
    expect((await target.ops('POST', '/ops/v1/verify')).body).toMatchObject({ ok: true })

    const metrics = (await target.ops('GET', '/metrics')).text
    await target.health.stop()
    expect(target.alive()).toBe(true)
    expect(metrics).toContain('svc_unhandled_errors_total 0')
    if (!faults) expect(metrics).not.toMatch(/svc_http_requests_total\{[^}]*status="5/)

    const printed = target.printed()
    const notices = [...Object.values(target.people.secrets), ...canaries].filter((secret) => printed.includes(secret))
    expect(notices).toEqual([])
    expect(printed.match(/canary/g)).toBeNull()

    expect(target.health.unanswered()).toBeLessThanOrEqual(MAX_UNANSWERED)
    await hasNotBlocked(target)
  })
}

/** Cents that are reserved by calls that have ended: there are none (docs/promises.md I8). */
async function heldBy(target: Target): Promise<number> {
  const held = await Promise.all(target.people.everyone().map(async (email) => (await target.moneyOf(email)).held))
  return held.reduce((sum, each) => sum + each, 0)
}
