import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually'
import { serveLocally } from '../../support/listening'
import { isLong } from '../../support/long'
import { startServerProcess } from '../../support/server-process'
import { temporaryFolder } from '../../support/temporary-folder'
import { startUpstream } from '../../support/upstream'

const folder = temporaryFolder('svc-workflow-crash-')

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const heard: string[] = []
const receiver = serveLocally((request) => {
  heard.push(request.headers.get('idempotency-key')!)
  return new Response('fine')
})

const start = (failpoint = '') =>
  startServerProcess({
    dataDir: folder,
    env: {
      SVC_EGRESS_ALLOW: '127.0.0.1/32',
      SVC_ENGINE_BASE_URL: upstream.url,
      SVC_ENGINE_MODEL: 'scripted',
      ...(failpoint ? { SVC_FAILPOINT: failpoint } : {}),
    },
  })

const pending = (url: string) => async (method: string, path: string, body?: unknown) => {
  const key = readFileSync(join(folder, 'dev-key'), 'utf8').trim()
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return (await response.json()) as any
}

const CALL = { type: 'http', config: { url: `http://127.0.0.1:${receiver.port}/`, method: 'POST' } }
const STEPS = [
  CALL,
  { type: 'ai_transform', config: { prompt: 'Say it [[say:said]]', mode: 'fast' } },
  { type: 'event', config: { eventType: 'tide.turned', payload: { run: '{{run.id}}' } } },
  CALL,
  { type: 'output', config: { format: 'text', template: 'done' } },
].map((step, at) => ({ name: `s${at}`, ...step }))

const INSTANTS = [
  'workflow_step_done_before_commit:3',
  'workflow_step_committed:2',
  ...(isLong ? ['workflow_step_done_before_commit:1', 'workflow_step_committed:5'] : []),
]

test.each(INSTANTS)(
  'a run of five steps (I38) goes on after a kill at %s: each step is kept once, charged once, published once',
  async (failpoint) => {
    const first = await start(failpoint)
    const ask = pending(first.url)
    const { workflow } = await ask('POST', 'workflows', { name: 'Flow', triggerType: 'manual', steps: STEPS })
    await ask('POST', `workflows/${workflow.id}/run`, {}).catch(() => undefined)
    await first.exited
    const second = await start()
    const again = pending(second.url)
    const { runs } = await eventually(
      () => again('GET', `workflows/${workflow.id}/runs`),
      ({ runs }) => runs[0]?.completedAt != null,
    )
    const [run] = runs
    expect(runs).toHaveLength(1)
    expect(run.status).toBe('completed')
    expect(run.output).toBe('done')
    expect(run.stepResults.map(({ index, status }: { index: number; status: string }) => [index, status])).toEqual(
      [0, 1, 2, 3, 4].map((index) => [index, 'completed']),
    )
    expect([...new Set(heard.filter((key) => key.startsWith(run.id)))]).toEqual([`${run.id}-0`, `${run.id}-3`])
    const { events } = await again('GET', 'events?eventType=tide.turned')
    const mine = events.filter(({ payload }: { payload: { run: string } }) => payload.run === run.id)
    expect(mine.map(({ id }: { id: string }) => id)).toEqual([run.stepResults[2].output.eventId])
    const charged = await again('GET', 'audit?action=completion.created')
    const ofRun = charged.filter((one: { input?: { metadata?: unknown } }) => JSON.stringify(one).includes(run.id))
    expect(ofRun).toHaveLength(1)
    expect(await second.stop()).toBe(0)
  },
)
