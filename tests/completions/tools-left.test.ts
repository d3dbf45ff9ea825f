import { afterAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32' } })
const { baseUrl } = listen(world)

/** A tool that answers only when its caller has gone. */
const seen = { began: 0, aborted: 0 }
const endpoint = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ signal }) => {
    seen.began += 1
    return new Promise<Response>((resolve) => {
      signal.addEventListener('abort', () => {
        seen.aborted += 1
        resolve(new Response())
      })
    })
  },
})
afterAll(() => endpoint.stop(true))

const tools = [{ name: 'wait', description: 'Waits.', endpoint: { url: `http://127.0.0.1:${endpoint.port}/` } }]
const PLAN = '[[while:One moment.]] [[plan:wait{};wait{}]]'

function ask(person: Person, stream: boolean, signal: AbortSignal): Promise<string> {
  return fetch(`${baseUrl}/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: freshPrompt(PLAN), mode: 'fast', tools, stream }),
    signal,
  }).then((response) => response.text())
}

describe.each([
  ['a stream', true],
  ['a plain answer', false],
])('who leaves %s in the middle of its tools', (_, stream) => {
  test('ends them, pays for the turn that was taken, and leaves no hold', async () => {
    const bob = await world.person()
    Object.assign(seen, { began: 0, aborted: 0 })
    upstream.reset()
    const leaving = new AbortController()
    const left = ask(bob, stream, leaving.signal).catch((error: Error) => error.name)
    await eventually(() => seen.began === 2)
    leaving.abort()
    expect(await left).toBe('AbortError')
    await eventually(() => seen.aborted === 2)
    const [failure] = await eventually(
      async () => (await bob.send('GET', 'audit?action=completion.failed')).body as { outputSummary: Summary }[],
      (rows) => rows.length > 0,
    )
    expect(failure!.outputSummary.status).toBe(499)
    expect(failure!.outputSummary.cost_cents).toBeGreaterThan(0)
    expect(upstream.calls).toHaveLength(1)
    const { balance, held } = await world.app.container.billing.balance(world.app.store.read, `user:${bob.userId}`)
    expect(held).toBe(0)
    expect(10_000 * 1e6 - balance).toBe(Math.round(failure!.outputSummary.cost_cents * 1e6))
  })
})

type Summary = { status: number; cost_cents: number }
