import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { workflowRuns } from '../../../src/automation/table'
import { RUN_JOB } from '../../../src/automation/workflows-repository'
import { waitingOf } from '../../../src/jobs'
import { eventually } from '../../support/eventually'
import { createWorkflowWorld } from './world'

const { world, ran } = await createWorkflowWorld()
const ASK = { type: 'approval', config: { message: 'May it?' } }
const SAY = { type: 'transform', config: { template: 'done' } }
const waiting = async () => [...(await waitingOf(world.app.container.store.read, 'workflow_run'))]

test('of people who decide at once one decides, and the others are told', async () => {
  const ada = await world.person()
  for (const words of [
    ['approve', 'reject', 'approve', 'reject'],
    ['cancel', 'approve', 'cancel'],
  ]) {
    const { id, run } = await ran(ada, [ASK, SAY])
    const replies = await Promise.all(words.map((word) => ada.send('POST', `workflows/${id}/runs/${run.id}/${word}`)))
    const [first, ...others] = replies.map(({ status }) => status).toSorted()
    expect(first).toBe(200)
    // What was approved may be cancelled after it.
    for (const status of others) expect([200, 409]).toContain(status)
    expect(words.includes('cancel') || !others.includes(200)).toBe(true)
  }
})

test('one whose time is over goes on by itself, and waits no more', async () => {
  const ada = await world.person()
  const { id, run } = await ran(ada, [ASK, SAY])
  const { store, jobs } = world.app.container
  const [row] = await store.read
    .select()
    .from(store.read.of(workflowRuns))
    .where(eq(store.read.of(workflowRuns).id, run.id))
  await store.write((tx) =>
    jobs.enqueue(tx, RUN_JOB, { owner: row!.owner, payload: { run: row!.id, turn: row!.turn } }),
  )
  const seen = () => ada.send('GET', `workflows/${id}/runs/${run.id}`)
  await eventually(seen, ({ body }) => body.run.status === 'failed')
  expect(await waiting()).toEqual([])
})

test('a run that waits for a person is one that somebody was asked for, until it is decided or cancelled', async () => {
  const ada = await world.person()
  for (const word of ['approve', 'reject', 'cancel']) {
    const { id, run } = await ran(ada, [ASK, SAY])
    expect(await waiting()).toEqual([[run.id, 'May it?']])
    expect((await ada.send('POST', `workflows/${id}/runs/${run.id}/${word}`)).status).toBe(200)
    expect(await waiting()).toEqual([])
  }
  const delayed = await ran(ada, [{ type: 'delay', config: { seconds: 3_600 } }, SAY])
  expect({ status: delayed.run.status, waiting: await waiting() }).toEqual({ status: 'paused', waiting: [] })
})
