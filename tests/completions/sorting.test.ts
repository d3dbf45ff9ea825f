import { describe, expect, test } from 'bun:test'
import { createClassifier } from '../../src/routing'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { decide } = createClassifier()
const VERBS = ['Sort out', 'Handle', 'We need help with', 'Consider', 'Prepare', 'Lay out', 'Go through', 'Improve']
const THINGS = [
  'the granite business',
  'velvet strategy slides',
  'my lantern report',
  'the contract drawing',
  'a film plan',
]

/** A prompt the local model is unsure of. */
const unclear = VERBS.flatMap((verb) => THINGS.map((thing) => `${verb} ${thing}`)).find(
  (prompt) => decide({ mode: 'auto', prompt, hasImages: false }).source === 'default',
)

/** The product with an engine that answers everything with this text. */
async function personBefore(text: string) {
  const { world, upstream } = await createUpstreamWorld({ upstream: { text } })
  return { world, ada: await world.person(), upstream }
}

const sure = await personBefore('{"mode":"code","confidence":0.91}')

describe('a prompt that no local stage is sure of', () => {
  test('is sorted by the engine, which the caller does not pay for', async () => {
    sure.upstream.reset()
    const sorted = await sure.ada.send('POST', 'completions', { prompt: unclear })
    expect(sure.upstream.calls).toHaveLength(2)
    expect(sorted.body).toMatchObject({
      resolved_mode: 'code',
      routing: { source: 'classifier', confidence: 0.91, reasoning: 'an engine read the prompt' },
    })
    const notice = await sure.ada.send('POST', 'completions', { prompt: unclear, mode: 'code' })
    expect(sorted.body.usage).toEqual(notice.body.usage)
  })

  test.each(['{"mode":"code","confidence":0.5}', 'who knows', '{"mode":"stealth_text","confidence":1}'])(
    'is plain when the engine answers %s',
    async (text) => {
      const { status, body } = await (await personBefore(text)).ada.send('POST', 'completions', { prompt: unclear })
      expect(status).toBe(200)
      expect(body).toMatchObject({ resolved_mode: 'fast', routing: { source: 'default', confidence: null } })
      expect(body.routing.reasoning).not.toContain(unclear)
    },
  )

  test.each([
    { prompt: freshPrompt('Sort out the granite business'), mode: 'fast' },
    { prompt: 'What is the capital of Chad?' },
  ])('is told from one that is clear or named, which costs one call: %j', async (input) => {
    sure.upstream.reset()
    await sure.ada.send('POST', 'completions', input)
    expect(sure.upstream.calls).toHaveLength(1)
  })
})

describe('a prompt that is guessed to want a video', () => {
  const guessed = 'waves rolling in at dusk, loop, 5 seconds'

  test('goes on as a job', async () => {
    expect(decide({ mode: 'auto', prompt: guessed, hasImages: false })).toMatchObject({ mode: 'video' })
    const { status, body } = await sure.ada.send('POST', 'completions', { prompt: guessed, mode: 'auto' })
    expect(status).toBe(200)
    expect(body.resolved_mode).toBe('video')
    expect(body.job.status).toBe('queued')
  })

  test('goes to an engine of text that the request itself names for the mode', async () => {
    const input = { prompt: guessed, model_overrides: { video: 'svc-1-code' } }
    const { body } = await sure.ada.send('POST', 'completions', input)
    expect(body).toMatchObject({ resolved_mode: 'video', routing: { source: 'local' } })
  })
})
