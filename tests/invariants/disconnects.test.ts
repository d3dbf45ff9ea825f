import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { eventually, startTarget } from '../catalogue/support'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { pricedEngines } from '../catalogue/support/prices'
import { head, open } from '../catalogue/support/raw'

const target = await startTarget({ engine: 'builtin', env: pricedEngines })
const { upstream } = target
const AT_ONCE = 25
const ROUNDS = 12

const descriptors = () => readdirSync(`/proc/${target.pid}/fd`).length

const requestFor = (path: string, key: string, body: object): string => {
  const text = JSON.stringify(body)
  return `${head(`POST /api/v1/${path} HTTP/1.1`, `Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${text.length}`)}\r\n\r\n${text}`
}

/** Sends one request and leaves after that many milliseconds. */
async function leaveAfter(ms: number, request: string, manner: 'end' | 'reset'): Promise<void> {
  const socket = await open(target.port)
  socket.resume()
  socket.write(request)
  await Bun.sleep(ms)
  if (manner === 'reset') socket.resetAndDestroy()
  else socket.destroy()
}

/** Sends one request and leaves once this has been heard. */
async function leaveUpon(words: string, request: string): Promise<void> {
  const socket = await open(target.port)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(request)
  await eventually(() => text.includes(words))
  socket.destroy()
}

describe('I31 a client that leaves', () => {
  const leaving = (n: number) => {
    // Half of the engine's answers end by being left, however late the server hears of it.
    const words = `[[tokens:900]] ${n % 4 < 2 ? '[[stall]]' : '[[slow:5]]'}`
    const chat = { model: 'svc-1-flash', messages: [{ role: 'user', content: `chat ${n} ${words}` }], stream: true }
    const native = {
      prompt: `native ${n} ${words}`,
      mode: 'fast',
      stream: true,
      conversation_id: n % 3 ? null : undefined,
    }
    return n % 2 ? (['chat/completions', chat] as const) : (['completions', native] as const)
  }

  test(`${AT_ONCE * ROUNDS} streams cut at random: the engine hears it, nothing stays held or open`, async () => {
    const person = await target.people.newcomer({ cents: 10_000 })
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        leaveAfter(30, requestFor(...([leaving(n)[0], person.key, leaving(n)[1]] as const)), 'end'),
      ),
    )
    await eventually(
      () => target.moneyOf(person.email),
      ({ held }) => held === 0,
    )
    const [fds, callsBefore] = [descriptors(), upstream.calls.length]

    const heard = () => upstream.calls.slice(callsBefore).filter(({ prompt }) => prompt.includes('[[stall]]'))
    // On a busy machine the engine hears of a call later: longer, until some were cut after that.
    for (let round = 0, step = 2.5; round < ROUNDS; round++, step = heard().length ? step : Math.min(40, step * 2)) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, n) => {
          const [path, body] = leaving(round * AT_ONCE + n)
          return leaveAfter(
            Math.floor(((n * 37 + round * 11) % 100) * step),
            requestFor(path, person.key, body),
            n % 4 ? 'end' : 'reset',
          )
        }),
      )
    }
    const calls = upstream.calls.slice(callsBefore)
    await eventually(
      () => calls.filter(({ aborted, ended }) => !aborted && !ended).length,
      (open) => open === 0,
    )
    await eventually(
      () => target.moneyOf(person.email),
      ({ held }) => held === 0,
    )
    const stalled = calls.filter(({ prompt }) => prompt.includes('[[stall]]'))
    expect(stalled.length).toBeGreaterThan(0)
    expect(stalled.filter(({ aborted }) => !aborted)).toEqual([])
    // Kept connections to the engine may be a few more or fewer than before.
    await eventually(descriptors, (now) => now <= fds + AT_ONCE)
  }, 180_000)

  test('pays for what was produced and keeps it, marked as interrupted', async () => {
    const person = await target.people.newcomer({ cents: 10 })
    const input = { prompt: 'partly [[stall]] [[say:word]]', mode: 'fast', stream: true }
    await leaveUpon('word', requestFor('completions', person.key, input))
    const { balance } = await eventually(
      () => target.moneyOf(person.email),
      ({ held, balance }) => held === 0 && balance < 10,
    )
    expect(10 - balance).toBeLessThan(0.2)
    const send = (path: string) => target.send('GET', path, { key: person.key })
    const { body: list } = await send('conversations')
    expect((await send(`conversations/${list.conversations[0].id}`)).body.conversation.messages[1]).toMatchObject({
      role: 'assistant',
      status: 'interrupted',
      content: expect.stringContaining('word'),
    })
    const { body: events } = await send('audit?action=completion.*')
    expect(events[0]).toMatchObject({ action: 'completion.failed', outputSummary: { error_code: 'client_closed' } })
  })

  test('before the first word pays nothing, at whatever instant', async () => {
    const person = await target.people.newcomer({ cents: 1_000 })
    const before = upstream.calls.length
    const instants = Array.from({ length: 40 }, (_, n) => n * 8)
    const prompts = (n: number) => ({ prompt: `never ${n} [[hang]]`, mode: 'fast', conversation_id: null })
    for (const stream of [true, false]) {
      await Promise.all(
        instants.map((ms, n) =>
          leaveAfter(ms, requestFor('completions', person.key, { ...prompts(n), stream }), n % 2 ? 'reset' : 'end'),
        ),
      )
    }
    await eventually(
      () => upstream.calls.slice(before).filter(({ aborted }) => !aborted).length,
      (waiting) => waiting === 0,
    )
    const money = () => target.moneyOf(person.email)
    expect(await eventually(money, ({ held }) => held === 0)).toEqual({ balance: 1_000, held: 0 })
  }, 120_000)
})

keepsItsPromises(target, { faults: true })
