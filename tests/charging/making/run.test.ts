import { describe, expect, test } from 'bun:test'
import { completionCreated } from '../../../src/charging'
import type { Call, KeyCaller } from '../../../src/kernel/caller'
import { AppError } from '../../../src/kernel/errors'
import { storedIn } from '../../files/support'
import { onTerms, under } from '../../guardrails/support'
import { fakeClock } from '../../support/clock'
import { createWorld, type Person } from '../../support/world'
import { inputOf, makingIn, pictures } from './support'

const clock = fakeClock()
const world = await createWorld({ clock })
const { run, walletOf, auditOf } = makingIn(world)
const notices: { object: string }[] = []
for (const { container } of world.nodes)
  container.events.afterCommit(completionCreated, ({ data }) => void notices.push(data))

const refused = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('was not refused')
    },
    (error: AppError) => error,
  )

describe('what is made is charged once, with its files and its record (docs/api.md 6)', () => {
  test('a success settles what it used, and keeps what it made', async () => {
    const ada = await world.person({ cents: 100 })
    notices.length = 0
    const answer = (await run(ada, inputOf(pictures(1), { max: 4 }))) as { ids: string[] }
    expect(answer).toEqual({ ids: [expect.stringMatching(/^art_/)], cost_cents: 4 } as never)
    expect(await walletOf(ada)).toEqual({ cents: 96, held: 0 })
    const artifact = await ada.send('GET', `artifacts/${answer.ids[0]}`)
    expect(artifact.body).toMatchObject({ type: 'image', prompt: 'a quiet lighthouse', mime_type: 'image/png' })
    const [row] = await auditOf(ada)
    expect(row).toMatchObject({
      action: 'image.created',
      entityType: 'image',
      inputSummary: { mode: 'image', prompt_length: 18 },
      outputSummary: { engine: 'svc-1-create', cost_cents: 4, status: 200 },
    })
    expect(JSON.stringify(row)).not.toContain('lighthouse')
    expect(notices).toEqual([
      expect.objectContaining({ object: 'image', usage: expect.objectContaining({ cost_cents: 4 }) }),
    ])
    expect(await world.app.container.billing.verify(world.app.store.read)).toEqual([])
  })

  test('a failure charges nothing, keeps no file, and is recorded', async () => {
    const ada = await world.person({ cents: 100 })
    const before = storedIn(world.folder).length
    const broken = inputOf(async (work) => {
      await pictures(2)(work)
      throw new AppError('engine_unavailable', 'No engine answered.')
    })
    expect(await refused(run(ada, broken))).toMatchObject({ code: 'engine_unavailable' })
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(storedIn(world.folder)).toHaveLength(before)
    expect((await auditOf(ada))[0]).toMatchObject({
      action: 'image.failed',
      outputSummary: { error_code: 'engine_unavailable', cost_cents: 0, status: 503 },
    })
  })

  test('what was kept and not handed over is removed', async () => {
    const ada = await world.person()
    const before = storedIn(world.folder).length
    await run(
      ada,
      inputOf(async (work) => ({ ...(await pictures(3)(work)), files: [], used: {} })),
    )
    expect(storedIn(world.folder)).toHaveLength(before)
  })

  test('never more than the price of the most that was asked for', async () => {
    const ada = await world.person({ cents: 100 })
    await run(
      ada,
      inputOf(async (work) => ({ ...(await pictures(1)(work)), used: { images: 50 } }), { max: 2 }),
    )
    expect(await walletOf(ada)).toEqual({ cents: 92, held: 0 })
  })

  test('what an embedded engine makes is free, and needs a balance all the same', async () => {
    const ada = await world.person({ cents: 1 })
    await run(ada, inputOf(pictures(1), { free: true }))
    expect(await walletOf(ada)).toEqual({ cents: 1, held: 0 })
    const poor = await world.person({ cents: 0 })
    expect(await refused(run(poor, inputOf(pictures(1), { free: true })))).toMatchObject({ kind: 'unpaid' })
  })
})

describe('what is refused costs nothing and makes nothing', () => {
  const never = () => Promise.reject(new Error('was made'))

  test('402 when the credit is below the price of the most', async () => {
    const ada = await world.person({ cents: 5 })
    expect(await refused(run(ada, inputOf(never, { max: 2 })))).toMatchObject({ code: 'insufficient_credits' })
    expect(await walletOf(ada)).toEqual({ cents: 5, held: 0 })
  })

  test('429 beyond the rate of the mode', async () => {
    const ada = await world.person({ tier: 'free' })
    const call = asFree(ada)
    for (let n = 0; n < 20; n += 1) await run(ada, inputOf(pictures(0)), call)
    const error = await refused(run(ada, inputOf(never), call))
    expect(error).toMatchObject({ code: 'mode_rate_limit_exceeded', retryAfterS: expect.any(Number) })
    clock.advance(60_000)
    await run(ada, inputOf(pictures(0)), call)
  })

  test('400 by the policy, which is recorded', async () => {
    const ada = await world.person({ cents: 100 })
    const policy = await under(ada, [onTerms('input', 'block', ['lighthouse'])])
    const error = await refused(run(ada, inputOf(never), bound(ada, policy)))
    expect(error).toMatchObject({ code: 'guardrail_blocked', param: 'prompt' })
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect((await auditOf(ada))[0]).toMatchObject({
      action: 'image.failed',
      outputSummary: { status: 400, guardrails: [expect.objectContaining({ verdict: 'block' })] },
    })
  })

  test('the maker gets what the policy leaves, of every text', async () => {
    const ada = await world.person()
    const policy = await under(ada, [onTerms('input', 'redact', ['flat'])])
    const seen: unknown[] = []
    const input = inputOf(async (work) => {
      seen.push(work.texts)
      return pictures(0)(work)
    })
    await run(ada, input, bound(ada, policy))
    expect(seen).toEqual([{ prompt: 'a quiet lighthouse', style: '[REDACTED:blocked_term]' }])
  })

  test('a text that an engine wrote passes the policy before it becomes a file', async () => {
    const ada = await world.person()
    const policy = await under(ada, [onTerms('output', 'block', ['secret plan'])])
    const seen: unknown[] = []
    const input = inputOf(async ({ guardOutput }) => {
      seen.push(await guardOutput('the secret plan'), await guardOutput('fine'))
      return { used: {}, files: [] }
    })
    await run(ada, input, bound(ada, policy))
    expect(seen).toEqual([
      { text: expect.not.stringContaining('secret plan'), withheld: true },
      { text: 'fine', withheld: false },
    ])
  })

  test('504 when it takes longer than 120 s', async () => {
    const ada = await world.person({ cents: 100 })
    const begun = Promise.withResolvers<void>()
    const slow = inputOf(({ signal }) => {
      begun.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const work = refused(run(ada, slow))
    await begun.promise
    clock.advance(120_000)
    expect(await work).toMatchObject({ code: 'request_timeout', kind: 'timeout' })
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
  })
})

const asCaller = (person: Person, members: Partial<KeyCaller>): Partial<Call> => {
  const call = world.callAs(person)
  return { caller: { ...call.caller, ...members } as Call['caller'] }
}
const asFree = (person: Person) => asCaller(person, { tier: 'free' })
const bound = (person: Person, guardrailPolicyId: string) => asCaller(person, { guardrailPolicyId })
