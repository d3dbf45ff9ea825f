import { describe, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { createHookWorld } from '../hooks/support'

const { world, upstream, clock, jobs, skill, publish, install, history } = await createHookWorld()
const balance = (userId: string) => world.app.container.billing.balance(world.app.store.read, `user:${userId}`)

const COUNTS = {
  tools: [{ name: 'count_syllables', description: 'Counts syllables.' }],
  permissions: ['execute:tools'],
}

/** Lets the first turn call a tool, and waits until the second one is asked for. */
const midway = async (before: number) => {
  await eventually(() => upstream.calls.length > before)
  upstream.release()
  await eventually(() => upstream.calls.length > before + 1)
}

/** Lets the first turn call a tool, and holds the second one back until the time is up. */
const breakOff = async (work: Promise<unknown>) => {
  await midway(upstream.calls.length)
  clock.advance(120_000)
  await work
}

describe('an answer that broke off', () => {
  test('fails the step of a workflow, which goes where a failure leads, and costs what it used', async () => {
    const ada = await world.person({ cents: 100 })
    const slug = await skill(COUNTS)
    await ada.send('POST', 'skills', { slug })
    const prompt = '[[held]][[plan:count_syllables{}]]'
    const steps = [
      { type: 'ai_transform', name: 'ask', config: { prompt, mode: 'fast', skills: [slug] }, onFailure: 2 },
      { type: 'output', name: 'good', config: { format: 'text', template: 'good' } },
      { type: 'output', name: 'bad', config: { format: 'text', template: 'bad' } },
    ]
    const made = await ada.send('POST', 'workflows', { name: 'Flow', triggerType: 'manual', steps })
    const path = `workflows/${made.body.workflow.id}`
    const started = ada.send('POST', `${path}/run`, {})
    await eventually(async () => (await ada.send('GET', `${path}/runs`)).body.runs.length > 0)
    await breakOff(jobs.runDue('workflow.run'))
    await started
    const [run] = (await ada.send('GET', `${path}/runs`)).body.runs
    expect({ status: run.status, output: run.output }).toEqual({ status: 'completed', output: 'bad' })
    expect(run.stepResults[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('120') })
    expect(run.stepResults[0].costCents).toBeGreaterThan(0)
    expect(await balance(ada.userId)).toMatchObject({ held: 0 })
  })

  test('fails the run of a hook, with what it cost', async () => {
    const ada = await world.person({ cents: 100 })
    const slug = await skill(COUNTS)
    const hook = (await install(ada, { event_pattern: 'tide.turned', skill_slug: slug })).body
    await publish(ada, 'tide.turned', '[[held]][[plan:count_syllables{}]]')
    await jobs.runDue('hooks.fire')
    await breakOff(jobs.runDue('skills.run'))
    const { executions, hook: after } = await history(ada, hook.id)
    expect(executions).toEqual([expect.objectContaining({ status: 'failed', error: 'request_timeout' })])
    expect(executions[0].costCents).toBeGreaterThan(0)
    expect(after.consecutive_failures).toBe(1)
  })

  test('because a run has worked for a quarter of an hour fails the run (R11)', async () => {
    const ada = await world.person({ cents: 100 })
    const steps = [{ type: 'ai_transform', name: 'ask', config: { prompt: '[[hang]] A quarter', mode: 'fast' } }]
    const made = await ada.send('POST', 'workflows', { name: 'Flow', triggerType: 'manual', steps })
    const path = `workflows/${made.body.workflow.id}`
    const started = ada.send('POST', `${path}/run`, {})
    await eventually(async () => (await ada.send('GET', `${path}/runs`)).body.runs.length > 0)
    const worked = jobs.runDue('workflow.run')
    await eventually(() => upstream.calls.some(({ prompt }) => prompt.includes('A quarter')))
    clock.advance(15 * 60_000)
    await Promise.all([started, worked])
    const [run] = (await ada.send('GET', `${path}/runs`)).body.runs
    expect(run).toMatchObject({ status: 'failed', error: 'It took longer than 900 seconds.' })
    // The step ends after its run: what it held is given back a moment later.
    await eventually(async () => (await balance(ada.userId)).held === 0)
  })

  test('because the worker stops is charged to nobody, and the step is still to be done', async () => {
    const ada = await world.person({ cents: 100 })
    const slug = await skill(COUNTS)
    await ada.send('POST', 'skills', { slug })
    const prompt = '[[held]][[plan:count_syllables{}]]Well'
    const steps = [{ type: 'ai_transform', name: 'ask', config: { prompt, mode: 'fast', skills: [slug] } }]
    const made = await ada.send('POST', 'workflows', { name: 'Flow', triggerType: 'manual', steps })
    const path = `workflows/${made.body.workflow.id}`
    const before = upstream.calls.length
    const started = ada.send('POST', `${path}/run`, {})
    await eventually(async () => (await ada.send('GET', `${path}/runs`)).body.runs.length > 0)
    const working = jobs.start()
    await midway(before)
    await working.stop()
    expect(await balance(ada.userId)).toMatchObject({ balance: 100_000_000, held: 0 })
    clock.advance(25_000)
    await started
    const [run] = (await ada.send('GET', `${path}/runs`)).body.runs
    expect(run).toMatchObject({ status: 'running', stepResults: [] })
  })
})
