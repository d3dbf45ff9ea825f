/** Batches whose account, key or time ends while their lines run (docs/api.md 32.6). */
import { describe, expect, test } from 'bun:test'
import { jobFailed } from '../../src/charging'
import type { DomainEvent } from '../../src/events'
import { createUpstreamWorld } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { impatiently } from '../support/impatiently'
import type { Person, World } from '../support/world'

const CHAT = '/v1/chat/completions'
const LINES = 30
/** The line whose answer waits while something happens. */
const HELD = 2
const clock = fakeClock('2026-03-01T00:00:00.000Z')
const { world, upstream } = await createUpstreamWorld({ clock, config: { batchConcurrency: 1 } })
const { container, store } = world.app

const bodyOf = (content: string) => ({ model: 'svc-1-flash', messages: [{ role: 'user', content }] })
const lineOf = (custom_id: string, content: string) => ({ custom_id, method: 'POST', url: CHAT, body: bodyOf(content) })

async function create({ send }: Person, lines: readonly object[]): Promise<string> {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([lines.map((line) => JSON.stringify(line)).join('\n')], 'in.jsonl'))
  const { id } = (await send('POST', 'files', form)).body
  return (await send('POST', 'batches', { input_file_id: id, endpoint: CHAT, completion_window: '24h' })).body.id
}

type Line = { custom_id: string; response: { status_code: number } | null; error: { code: string } | null }

/** A batch with what its files say, as somebody reads it who need not have its key. */
async function found({ send }: Pick<Person, 'send'>, id: string) {
  const { body: batch } = await send('GET', `batches/${id}`)
  const read = async (file: string | null): Promise<Line[]> =>
    file
      ? (await send('GET', `files/${file}/content`)).text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  const [out, failed] = [await read(batch.output_file_id), await read(batch.error_file_id)]
  const how = failed.map(({ response, error }) => response?.status_code ?? error!.code)
  return { batch, ids: out.map(({ custom_id }) => custom_id), failed: [...new Set(how)], count: failed.length }
}

/** Runs a batch, and does something while one line waits for its answer; the later lines have not begun. */
async function whileRunning(person: Person, happen: (id: string) => Promise<unknown>): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, at) =>
    lineOf(`${at}`, `${at === HELD ? '[[held]]' : ''}[[say:ok]] ${at}`),
  )
  const id = await create(person, lines)
  const running = container.jobs.runDue('batch')
  await eventually(() => upstream.asked('[[held]]'))
  await happen(id)
  upstream.release()
  await running
  await container.jobs.runDue('batch')
  upstream.reset()
  return id
}

const drained = async (by: World, { userId }: Person): Promise<void> => {
  const owner = `user:${userId}` as const
  const { available } = await by.app.container.billing.balance(by.app.store.read, owner)
  await by.app.store.write((tx) =>
    by.app.container.billing.adjust(tx, {
      ...{ owner, amount: -available, ref: `drained ${userId}`, kind: 'adjustment', note: null },
    } as never),
  )
}

describe('in the middle of a batch', () => {
  test('credit that runs out fails the rest with 402, and what was answered stays', async () => {
    const person = await world.person()
    const id = await whileRunning(person, () => drained(world, person))
    const { batch, ids, failed, count } = await found(person, id)
    expect(batch.status).toBe('completed')
    expect(ids.slice(0, HELD + 1)).toEqual(['0', '1', '2'])
    expect(failed).toEqual([402])
    expect(batch.request_counts).toEqual({ total: LINES, completed: ids.length, failed: count })
    expect(count).toBeGreaterThan(0)
    expect((await container.billing.balance(store.read, `user:${person.userId}`)).balance).toBeGreaterThanOrEqual(0)
  })

  test('a revoked key fails the rest with 401, and the line that runs ends', async () => {
    const person = await world.person()
    const session = await world.signedIn(person)
    const id = await whileRunning(person, () => session.send('DELETE', `keys/${person.keyId}`))
    expect(await found(session as never, id)).toMatchObject({
      ...{ batch: { status: 'completed' }, ids: ['0', '1', '2'], failed: [401], count: LINES - 3 },
    })
  })

  test('a cancelled one ends the line that runs, and both its files are written', async () => {
    const person = await world.person()
    const id = await whileRunning(person, (batch) => person.send('POST', `batches/${batch}/cancel`))
    expect(await found(person, id)).toMatchObject({
      ...{ batch: { status: 'cancelled' }, ids: ['0', '1', '2'], failed: ['batch_cancelled'], count: LINES - 3 },
    })
  })

  test('after 24 hours what waits for an engine has expired, and what was answered stays', async () => {
    const person = await world.person()
    const id = await create(person, [lineOf('answered', '[[say:ok]]'), lineOf('away', '[[fail:99]][[say:never]]')])
    await impatiently(clock, container.jobs.runDue('batch'))
    expect((await found(person, id)).batch).toMatchObject({ status: 'in_progress', request_counts: { completed: 1 } })
    clock.advance(86_400_000)
    await impatiently(clock, container.jobs.runDue('batch'))
    const ended = { ids: ['answered'], failed: ['batch_expired'], count: 1 }
    expect(await found(person, id)).toMatchObject({ batch: { status: 'expired' }, ...ended })
  })

  test('nothing is left on hold', async () => {
    expect(await container.billing.verify(store.read)).toEqual([])
    expect(await container.publicJobs.verify(store.read)).toEqual([])
  })
})

test('a broken file is reported by a webhook of its job', async () => {
  const failedJobs: string[] = []
  for (const node of world.nodes)
    node.container.events.afterCommit(
      jobFailed,
      (event) => void failedJobs.push((event as DomainEvent<{ job_id: string }>).data.job_id),
    )
  const person = await world.person()
  await create(person, [{ custom_id: 'a' }])
  await container.jobs.runDue('batch')
  const { jobs } = (await person.send('GET', 'jobs?type=batch')).body
  expect(failedJobs).toEqual(jobs.map(({ id }: { id: string }) => id))
})

test('each line costs less by SVC_BATCH_DISCOUNT_PERCENT', async () => {
  const cheap = await createUpstreamWorld({ config: { batchDiscountPercent: 60 } })
  const person = await cheap.world.person()
  const body = bodyOf('[[say:the same words for both]]')
  const { svc_metadata: alone } = (await person.send('POST', 'chat/completions', body)).body
  const { send } = person
  const id = await create(person, [{ custom_id: 'a', method: 'POST', url: CHAT, body }])
  await cheap.world.app.container.jobs.runDue('batch')
  const { output_file_id: file } = (await send('GET', `batches/${id}`)).body
  const { response } = JSON.parse((await send('GET', `files/${file}/content`)).text)
  expect(alone.cost_cents).toBeGreaterThan(0)
  expect(response.body.svc_metadata.cost_cents).toBeCloseTo(alone.cost_cents * 0.4, 6)
})
