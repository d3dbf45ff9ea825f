import { describe, expect, test } from 'bun:test'
import { expectData, subscribeTo } from '../../support/event-data'
import { eventually } from '../../support/eventually'
import { operatorCall, type Person } from '../../support/world'
import { createWorkflowWorld } from './world'

const { world, made, ran } = await createWorkflowWorld()
const SAY = { type: 'transform', config: { template: 'done' } }
const ASK = { type: 'approval', config: { message: 'May it?' } }

const decide = (by: Person, { id, run }: { id: string; run: { id: string } }, word: string, body: object = {}) =>
  by.send('POST', `workflows/${id}/runs/${run.id}/${word}`, body)
const ended = async (by: Person, { id, run }: { id: string; run: { id: string } }) =>
  (
    await eventually(
      () => by.send('GET', `workflows/${id}/runs/${run.id}`),
      ({ body }) => body.run.completedAt !== null,
    )
  ).body.run

describe('a run (docs/api.md 10)', () => {
  test('goes step by step where that was asked for, and ends where it is rejected', async () => {
    const ada = await world.person()
    const id = await made(ada, [SAY, ASK, SAY])
    const begin = async () => ({ id, ...(await ada.send('POST', `workflows/${id}/run`, { stepwise: true })).body })
    const one = await begin()
    expect(one.run).toMatchObject({ status: 'paused', stepsCompleted: 1, completedAt: null })
    const at = async () => (await ada.send('GET', `workflows/${id}/runs/${one.run.id}`)).body.run
    await decide(ada, one, 'approve')
    await eventually(async () => (await at()).stepResults.at(-1).status === 'paused')
    expect((await decide(ada, one, 'approve')).body.run).toMatchObject({ status: 'paused', stepsCompleted: 2 })
    await decide(ada, one, 'approve')
    expect(await ended(ada, one)).toMatchObject({ status: 'completed', stepsCompleted: 3 })
    const other = await begin()
    const { body } = await decide(ada, other, 'reject')
    expect(body.run).toMatchObject({ status: 'failed', error: 'rejected', stepsCompleted: 1 })
    const idle = await made(ada, [SAY])
    const counted = async (query: string) =>
      (await ada.send('GET', `workflows${query}`)).body.workflows.map((it: { id: string; failedRuns?: number }) => [
        it.id,
        it.failedRuns,
      ])
    expect(await counted('?failedFrom=2020-01-01')).toEqual([
      [idle, 0],
      [id, 1],
    ])
    expect(await counted('?failedFrom=2999-01-01')).toEqual([
      [idle, 0],
      [id, 0],
    ])
    expect((await counted(''))[1]).toEqual([id, undefined])
    expect((await ada.send('GET', 'workflows?failedFrom=yesterday')).status).toBe(400)
  })

  test('keeps 2 MB of outputs: a loop that makes more fails, and a page of such runs ends early', async () => {
    const ada = await world.person()
    const grow = { type: 'transform', config: { template: '{{trigger.x}}'.repeat(8) }, onSuccess: 0 }
    const id = await made(ada, [grow])
    const runs = await Promise.all(
      [1, 2, 3, 4].map(() => ada.send('POST', `workflows/${id}/run`, { triggerData: { x: 'x'.repeat(60_000) } })),
    )
    for (const { body } of runs) {
      const run = await ended(ada, { id, run: body.run })
      expect(run).toMatchObject({ status: 'failed', stepsCompleted: 4 })
      expect(run.error).toContain('the outputs of this run have more than 2097152 bytes')
    }
    const first = (await ada.send('GET', `workflows/${id}/runs`)).body
    expect({ runs: first.runs.length, hasMore: first.has_more }).toEqual({ runs: 3, hasMore: true })
    const rest = (await ada.send('GET', `workflows/${id}/runs?cursor=${first.next_cursor}`)).body
    expect([...first.runs, ...rest.runs].map((run: { id: string }) => run.id).sort()).toEqual(
      runs.map(({ body }) => body.run.id).sort(),
    )
  })

  test('waits for an approval, and goes on with it', async () => {
    const ada = await world.person()
    const waiting = await ran(ada, [ASK, SAY])
    expect(waiting.run).toMatchObject({ status: 'paused', stepsCompleted: 0, completedAt: null })
    expect(waiting.run.stepResults).toMatchObject([{ status: 'paused', completedAt: null }])
    const { status, body } = await decide(ada, waiting, 'approve', { comment: 'fine' })
    expect({ status, run: body.run.status }).toEqual({ status: 200, run: 'running' })
    const run = await ended(ada, waiting)
    expect({ status: run.status, output: run.output }).toEqual({ status: 'completed', output: 'done' })
    expect(run.stepResults[0].output).toEqual({ approved: true, by: ada.userId, comment: 'fine' })
    expect((await decide(ada, waiting, 'approve')).status).toBe(409)
  })

  test('ends when it is rejected, unless the step says where to go', async () => {
    const ada = await world.person()
    const lost = await ran(ada, [ASK, SAY])
    expect((await decide(ada, lost, 'reject', { comment: 'no' })).body.run).toMatchObject({ status: 'failed' })
    const led = await ran(ada, [{ ...ASK, onFailure: 1 }, SAY])
    await decide(ada, led, 'reject')
    expect(await ended(ada, led)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('is decided by whom the step names, and by nobody else', async () => {
    const [ada, bob, eve] = [await world.person(), await world.person(), await world.person()]
    const waiting = await ran(ada, [{ type: 'approval', config: { message: 'Bob?', approvers: [bob.userId] } }, SAY])
    expect((await decide(ada, waiting, 'approve')).status).toBe(403)
    expect((await decide(eve, waiting, 'approve')).status).toBe(404)
    expect((await decide(bob, waiting, 'approve')).status).toBe(200)
    // Who decided sees what became of it, and is told when they come again.
    expect((await decide(bob, waiting, 'approve')).status).toBe(409)
    expect((await bob.send('GET', `workflows/${waiting.id}/runs/${waiting.run.id}`)).status).toBe(200)
    expect((await ended(ada, waiting)).stepResults[0].output.by).toBe(bob.userId)
  })

  test('that one decided who was named is not theirs to decide or cancel when it waits for somebody else', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const named = { type: 'approval', config: { message: 'Bob?', approvers: [bob.userId] } }
    const waiting = await ran(ada, [named, ASK, named])
    await decide(bob, waiting, 'approve')
    await eventually(
      () => bob.send('GET', `workflows/${waiting.id}/runs/${waiting.run.id}`),
      ({ body }) => body.run.status === 'paused' && body.run.stepsCompleted === 1,
    )
    for (const word of ['approve', 'reject', 'cancel']) expect((await decide(bob, waiting, word)).status).toBe(403)
    expect((await decide(ada, waiting, 'cancel')).status).toBe(200)
  })

  test('of an organization is seen and decided by its people in a session, as their role lets them', async () => {
    const boss = await world.person({ ofOrg: true })
    const owner = await world.signedIn(boss)
    const waiting = await ran(boss, [ASK, SAY])
    const path = `workflows/${waiting.id}/runs/${waiting.run.id}`
    expect((await owner.send('GET', path)).status).toBe(200)
    expect((await owner.send('GET', 'workflows')).body.workflows).toMatchObject([{ id: waiting.id }])
    const ada = await world.person()
    const viewer = await world.signedIn(ada)
    expect((await viewer.send('GET', path)).status).toBe(404)
    const { store, orgs } = world.app.container
    const joining = { orgId: boss.orgId!, userId: ada.userId, role: 'viewer' as const, invitedBy: null }
    await store.write((tx) => orgs.members.join(tx, operatorCall(), joining))
    await viewer.send('POST', `orgs/${boss.orgId}/activate`)
    expect((await viewer.send('GET', path)).status).toBe(200)
    for (const word of ['approve', 'cancel']) expect((await decide(viewer, waiting, word)).status).toBe(403)
    expect((await viewer.send('POST', `workflows/${waiting.id}/run`, {})).status).toBe(403)
    // Their own key has their own, whatever is active.
    expect((await ada.send('GET', path)).status).toBe(404)
    expect((await decide(owner, waiting, 'approve')).status).toBe(200)
    expect((await decide(owner, await ran(boss, [ASK]), 'cancel')).status).toBe(200)
  })

  test('names no approver who could never decide', async () => {
    const [boss, bob] = [await world.person({ ofOrg: true }), await world.person()]
    const order = (id: string) => ({
      ...{ name: 'Flow', triggerType: 'manual' },
      steps: [{ type: 'approval', name: 'a', config: { message: 'x', approvers: [id] } }],
    })
    const nobody = '00000000-0000-4000-8000-000000000000'
    for (const [by, id] of [
      [bob, nobody],
      [boss, nobody],
      [boss, bob.userId],
    ] as const) {
      const { status, body } = await by.send('POST', 'workflows', order(id))
      expect({ status, ...body.error }).toMatchObject({
        status: 400,
        param: 'steps[0].config.approvers',
        message: expect.stringContaining(id),
      })
    }
    expect((await boss.send('POST', 'workflows', order(boss.userId))).status).toBe(201)
  })

  test('waits for a time, which nobody can approve', async () => {
    const ada = await world.person()
    const waiting = await ran(ada, [{ type: 'delay', config: { seconds: 3_600 } }, SAY])
    expect(waiting.run.status).toBe('paused')
    const { status, body } = await decide(ada, waiting, 'approve')
    expect(status).toBe(409)
    expect(body.error.message).toContain('waits until')
    expect((await decide(ada, waiting, 'cancel')).body.run).toMatchObject({ status: 'failed', error: 'cancelled' })
    expect((await decide(ada, waiting, 'cancel')).status).toBe(409)
  })

  test('goes on by itself when the time has come, and its caller waits for a short one', async () => {
    const ada = await world.person()
    const soon = new Date(Date.now() + 1_500).toISOString()
    const { run } = await ran(ada, [{ type: 'delay', config: { until: soon } }, SAY])
    expect(run).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('takes the caller’s prompt in place of the first', async () => {
    const ada = await world.person()
    const step = { type: 'ai_transform', config: { prompt: 'a [[say:one]]', mode: 'fast' } }
    expect((await ran(ada, [step], { overridePrompt: 'b [[say:two]]' })).run.output.text).toBe('two')
  })

  test('starts once for one Idempotency-Key, however often it is requested (R10)', async () => {
    const ada = await world.person()
    const id = await made(ada, [SAY])
    const ask = () => ada.send('POST', `workflows/${id}/run`, {}, { 'idempotency-key': 'once' })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const again = await ask()
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
    const { runs } = (await ada.send('GET', `workflows/${id}/runs`)).body
    expect(runs.map(({ id: run }: { id: string }) => run)).toEqual([again.body.run.id])
  })

  test('of a disabled workflow does not begin; runs are listed by status', async () => {
    const ada = await world.person()
    const id = await made(ada, [ASK])
    await ada.send('POST', `workflows/${id}/run`, {})
    expect((await ada.send('GET', `workflows/${id}/runs?status=paused`)).body.runs).toHaveLength(1)
    expect((await ada.send('GET', `workflows/${id}/runs?status=failed`)).body.runs).toEqual([])
    await ada.send('PATCH', `workflows/${id}`, { enabled: false })
    expect((await ada.send('POST', `workflows/${id}/run`, {})).status).toBe(409)
  })

  test('keeps its steps when the workflow is changed or deleted (R14)', async () => {
    const ada = await world.person()
    const waiting = await ran(ada, [ASK, SAY])
    await ada.send('PATCH', `workflows/${waiting.id}`, { steps: [{ ...SAY, name: 'a', config: { template: 'new' } }] })
    await ada.send('DELETE', `workflows/${waiting.id}`)
    await decide(ada, waiting, 'approve')
    expect((await ended(ada, waiting)).output).toBe('done')
  })

  test('stops where its key is revoked', async () => {
    const ada = await world.person()
    const waiting = await ran(ada, [ASK, SAY])
    const transcript = await world.signedIn(ada)
    await ada.send('DELETE', `keys/${ada.keyId}`)
    await decide(transcript, waiting, 'approve')
    expect((await ended(transcript, waiting)).error).toContain('no longer has access')
  })

  test('tells of its end, and is on the record', async () => {
    const ada = await world.person()
    await subscribeTo(ada, 'workflow.*')
    const { id, run } = await ran(ada, [SAY])
    const bad = await ran(ada, [SAY, { type: 'tool', config: { name: 'none' } }])
    await expectData(ada, ['workflow.completed', 'workflow.failed'])
    const notify = async (type: string, runId: string) => {
      const { events } = (await ada.send('GET', `events?eventType=workflow.${type}`)).body
      return events.find(({ payload }: { payload: { run_id: string } }) => payload.run_id === runId)?.payload
    }
    expect(await notify('completed', run.id)).toMatchObject({ workflow_id: id, steps_completed: 1, error: null })
    const failed = { workflow_id: bad.id, status: 'failed', steps_completed: 1, error: bad.run.error }
    expect(await notify('failed', bad.run.id)).toMatchObject(failed)
    const actions = (await ada.send('GET', `audit?entity_id=${id}`)).body.map((one: { action: string }) => one.action)
    expect(actions).toContain('workflow.run')
  })
})

describe('a trigger', () => {
  test('of an event starts a run with it, where its filter lets it pass', async () => {
    const ada = await world.person({ ofOrg: true })
    const triggerConfig = { eventPattern: 'order.*', filter: 'trigger.payload.total > 10' }
    const id = await made(ada, [{ type: 'transform', config: { template: '{{trigger.payload.total}}' } }], {
      triggerType: 'event',
      triggerConfig,
    })
    const publish = (total: number) =>
      ada.send('POST', 'events', { orgId: ada.orgId, eventType: 'order.paid', payload: { total } })
    expect((await publish(5)).body.matchedWorkflows).toBe(1)
    await publish(15)
    const { body } = await eventually(
      () => ada.send('GET', `workflows/${id}/runs?status=completed`),
      ({ body }) => body.runs.length > 0,
    )
    expect(body.runs.map(({ output }: { output: number }) => output)).toEqual([15])
    expect(body.runs[0]).toMatchObject({ triggerType: 'event', triggerData: { eventType: 'order.paid' } })
    await ada.send('PATCH', `workflows/${id}`, { enabled: false })
    expect((await publish(20)).body.matchedWorkflows).toBe(0)
  })

  test('whose filter cannot be decided makes a run that failed, and says why', async () => {
    const ada = await world.person({ ofOrg: true })
    const triggerConfig = { eventPattern: 'note.*', filter: 'trigger.payload matches "end$"' }
    const id = await made(ada, [SAY], { triggerType: 'event', triggerConfig })
    await ada.send('POST', 'events', { orgId: ada.orgId, eventType: 'note.made', payload: `${'a'.repeat(50_000)}end` })
    const { body } = await ada.send('GET', `workflows/${id}/runs`)
    expect(body.runs).toHaveLength(1)
    expect(body.runs[0]).toMatchObject({ status: 'failed', stepsCompleted: 0, triggerType: 'event' })
    expect(body.runs[0].error).toBe(
      `The trigger's filter failed: the text before "matches" has 50003 characters; patterns read at most 50,000.`,
    )
  })
})
