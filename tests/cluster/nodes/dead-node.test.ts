import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { devKeyOf } from '../../support/server-process'
import { postgresUrl } from '../../support/store'
import { startTwoNodes } from '../../support/two-nodes'
import { startUpstream } from '../../support/upstream'

if (!postgresUrl) process.stdout.write('NOT RUN: a node that dies, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl)('what a killed node had on hold is given back by the node that is left', async () => {
  const upstream = await startUpstream()
  afterAll(() => upstream.stop())
  const engine = { SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'scripted' }
  const { one: dying, other: left, home } = await startTwoNodes(engine)
  const headers = { authorization: `Bearer ${devKeyOf(home)}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ prompt: 'whole [[hang]]', mode: 'fast' })
  const request = fetch(`${dying.url}/api/v1/completions`, { method: 'POST', headers, body }).catch(() => null)
  await eventually(() => upstream.calls.some(({ prompt }) => prompt.includes('[[hang]]')))
  const interrupted = async () => {
    const response = await fetch(`${left.url}/api/v1/audit`, { headers })
    const events = (await response.json()) as { action: string; outputSummary: object }[]
    return events.filter(({ action }) => action === 'completion.interrupted')
  }
  expect(await interrupted()).toEqual([])

  await dying.kill()
  await request
  const [event] = await eventually(interrupted, (events) => events.length > 0)
  expect(event!.outputSummary).toMatchObject({ cost_cents: 0 })
})
