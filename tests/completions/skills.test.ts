import { describe, expect, test } from 'bun:test'
import { readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt, systemOf } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
await world.app.container.skills.openStarters()
const SLUG = 'email-drafter'

const ask = (
  person: Awaited<ReturnType<typeof world.person>>,
  more: object = {},
  prompt = freshPrompt('Write to Ben'),
) => person.send('POST', 'completions', { prompt, mode: 'fast', conversation_id: null, ...more })
const notify = () => systemOf(upstream.calls.at(-1)!.body)

describe('a skill that is named', () => {
  test('speaks in the system prompt, and is named in the answer and on the record', async () => {
    const ada = await world.person({ cents: 100 })
    const { status, body } = await ask(ada, { skills: [SLUG] })
    expect(status).toBe(200)
    expect(body.skills_active).toMatchObject([{ slug: SLUG }])
    expect(body.warnings).toBeUndefined()
    expect(notify()).toContain('Skills in use')
    const [event] = (await ada.send('GET', `audit?entity_id=${body.id}`)).body
    expect(event.inputSummary.skills).toEqual([body.skills_active[0].id])
    expect(Object.keys((await ada.send('GET', 'usage')).body.by_skill)).toEqual([body.skills_active[0].id])
  })

  test('that nobody knows is skipped with a warning', async () => {
    const { body } = await ask(await world.person({ cents: 100 }), { skills: ['no-such-skill'] })
    expect(body.skills_active).toBeUndefined()
    expect(body.warnings.join()).toContain('"no-such-skill"')
  })

  test('in a chat is merged in all the same', async () => {
    const ada = await world.person({ cents: 100 })
    const messages = [{ role: 'user', content: freshPrompt('Write to Ben') }]
    await ada.send('POST', 'chat/completions', { model: 'svc-1-flash', messages, skills: [SLUG] })
    expect(notify()).toContain('Skills in use')
  })

  test('is told to who reads along, right after meta', async () => {
    const frames = readFrames((await ask(await world.person({ cents: 100 }), { skills: [SLUG], stream: true })).text)
    expect(frames.slice(0, 2)).toMatchObject([
      { event: 'meta', data: { skills: [{ slug: SLUG }] } },
      { event: 'skills', data: { active: [{ slug: SLUG }] } },
    ])
    expect(frames.at(-1)).toMatchObject({ event: 'done', data: { skills_active: [{ slug: SLUG }] } })
  })
})

test('a skill that is installed changes the answer from then on, also one that was remembered, until it goes', async () => {
  const ada = await world.person({ cents: 100 })
  const prompt = freshPrompt('Draft an email to Ben')
  const before = (await ask(ada, {}, prompt)).body
  const { skills } = (await ada.send('GET', `skills?q=${SLUG}`)).body
  const { id } = skills.find(({ slug }: { slug: string }) => slug === SLUG)
  expect((await ada.send('POST', 'skills', { skillId: id })).status).toBeLessThan(300)
  const during = (await ask(ada, {}, prompt)).body
  expect(during._cached).toBeUndefined()
  expect(during.skills_active).toMatchObject([{ slug: SLUG }])
  expect((await ada.send('DELETE', `skills/${id}/install`)).status).toBeLessThan(300)
  const after = (await ask(ada, {}, prompt)).body
  expect(after).toMatchObject({ _cached: true, id: before.id })
  expect(after.skills_active).toBeUndefined()
})
