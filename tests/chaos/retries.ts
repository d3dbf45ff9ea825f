import { timeGivenTo } from '../support/effort'
import { createClient, type Json, type Outcome, type Started, whenReady } from './client'
import { inParallel } from './parallel'
import type { Keyed, Witness } from './witness'

/** How long a key may be held by a process that is dead (docs/promises.md I11). */
const STUCK_MS = 2_000
/** Of what was answered before the kill, how much is asked again. */
const SAMPLE = 40

/**
 * First thing after a start: what died is asked again under its key, and is one effect whichever side of
 * the commit the kill hit (docs/promises.md I2); what was answered is answered again, byte for byte (docs/promises.md
 * I10). Says what is not so.
 */
export async function retryAll(server: Started, witness: Witness): Promise<string[]> {
  const client = createClient(server.url, server.key)
  const sent = ({ path, body, key }: Keyed) => whenReady(server, () => client.send('POST', path, body, key))

  const finished = await inParallel(witness.unfinished.splice(0), async (request) => {
    const outcome = await whenFree(server, () => sent(request))
    if (outcome.is !== 'acked') return [`the ${request.kind} under ${request.key} was retried: ${notify(outcome)}`]
    if (outcome.isReplay) witness.replayed()
    request.note(outcome.value, outcome.requestId)
    witness.acked(request.kind, outcome.requestId, outcome.value)
    return sameAgain(request, outcome.text, await sent(request))
  })
  const known = witness.answered.splice(0).slice(-SAMPLE)
  const repeated = await inParallel(known, async (request) => sameAgain(request, request.text, await sent(request)))
  return [...finished, ...repeated]
}

function sameAgain({ kind, key }: Keyed, text: string, again: Outcome<Json>): string[] {
  if (again.is !== 'acked') return [`the ${kind} under ${key} was answered and then: ${notify(again)}`]
  if (!again.isReplay) return [`the ${kind} under ${key} ran twice`]
  return again.text === text ? [] : [`the ${kind} under ${key} was answered ${text} and then ${again.text}`]
}

/** Asks until nobody holds the key, for as long as a dead process may hold it. */
async function whenFree({ pid }: Started, ask: () => Promise<Outcome<Json>>): Promise<Outcome<Json>> {
  const waited = timeGivenTo(pid)
  for (;;) {
    const outcome = await ask()
    if (outcome.is !== 'refused' || outcome.status !== 409 || waited() > STUCK_MS) return outcome
    await Bun.sleep(20)
  }
}

const notify = (outcome: Outcome<Json>): string =>
  outcome.is === 'refused' ? `${outcome.status} ${outcome.text.slice(0, 200)}` : outcome.is
