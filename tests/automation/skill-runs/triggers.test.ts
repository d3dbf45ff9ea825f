import { describe, expect, test } from 'bun:test'
import { manifest, submit } from '../../skills/support'
import { fakeClock } from '../../support/clock'
import { createHookWorld } from '../hooks/support'

const clock = fakeClock('2030-01-01T12:00:00.000Z')
const { world, admin, publish, jobs, decide, skill, upstream } = await createHookWorld(clock)
const [MINUTE, DAY] = [60_000, 86_400_000]
const settle = async () => {
  for (let done = 1; done > 0; ) {
    done = 0
    for (const kind of ['skills.follow', 'skills.triggered', 'skills.schedule', 'skills.run'])
      done += await jobs.runDue(kind)
  }
}
const autonomous = { permissions: ['autonomous:run'] }
const onEvent = (eventPattern: string) => ({ ...autonomous, trigger: { type: 'event', config: { eventPattern } } })
const install = (person: Awaited<ReturnType<typeof world.person>>, slug: string) =>
  person.send('POST', 'skills', { slug })
const results = async (person: Awaited<ReturnType<typeof world.person>>) =>
  (await person.send('GET', 'audit?action=skill.triggered&limit=100')).body
    .map(({ inputSummary: { metadata } }: { inputSummary: { metadata: { result: string } } }) => metadata.result)
    .reverse()

describe('a skill with the trigger event (docs/api.md 8.1)', () => {
  test('runs alone for those who installed it, while it is on and installed', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const slug = await skill(onEvent('order.*.paid'))
    await install(ada, slug)
    await publish(ada, 'order.eu.paid', { total: 41 })
    await publish(ada, 'order.eu.late')
    await publish(eve, 'order.eu.paid')
    await settle()
    expect(await results(ada)).toEqual(['completed'])
    expect(await results(eve)).toEqual([])
    expect(upstream.asked('"total": 41')).toBe(true)
    const installation = `skills/${(await ada.send('GET', `skills/${slug}`)).body.id}/installation`
    await ada.send('PATCH', installation, { enabled: false })
    await publish(ada, 'order.eu.paid')
    await settle()
    await ada.send('PATCH', installation, { enabled: true })
    await publish(ada, 'order.eu.paid')
    await settle()
    expect(await results(ada)).toEqual(['completed', 'completed'])
    await ada.send('DELETE', 'skills', { skillId: (await ada.send('GET', `skills/${slug}`)).body.id })
    await publish(ada, 'order.eu.paid')
    await settle()
    expect(await results(ada)).toEqual(['completed', 'completed'])
  })

  test('follows the version in force, and does not run while it is suspended', async () => {
    const [author, ada] = [await world.person(), await world.person()]
    const first = manifest(onEvent('a.happened'))
    const made = await submit(author, first)
    await admin.decide(made.id, 'approve')
    await install(ada, made.slug)
    const next = await submit(
      author,
      { ...first, ...onEvent('b.happened'), version: '1.1.0' },
      { skill_id: made.skillId },
    )
    await admin.decide(next.id, 'approve')
    await settle()
    await publish(ada, 'a.happened')
    await publish(ada, 'b.happened')
    await settle()
    expect(await results(ada)).toEqual(['completed'])
    await admin.decide(next.id, 'suspend', 'Test.')
    await publish(ada, 'b.happened')
    await settle()
    expect(await results(ada)).toEqual(['completed'])
    await admin.decide(next.id, 'reinstate', 'Test.')
    await settle()
    await publish(ada, 'b.happened')
    await settle()
    expect(await results(ada)).toEqual(['completed', 'completed'])
  })

  test('is switched off after five failures in a row, on the record', async () => {
    const ada = await world.person()
    const slug = await skill(onEvent('fail.now'))
    await install(ada, slug)
    for (let at = 0; at < 6; at++) {
      await publish(ada, 'fail.now')
      await jobs.runDue('skills.triggered')
      await decide(slug, 'suspend')
      await jobs.runDue('skills.run')
      await decide(slug, 'reinstate')
      await jobs.runDue('skills.follow')
    }
    expect(await results(ada)).toEqual(Array(5).fill('failed'))
    expect((await ada.send('GET', 'audit?action=skill.paused')).body).toHaveLength(1)
  })
})

test('a skill with the trigger schedule runs at its times in its zone; missed times make up one run; another version has other times', async () => {
  const [author, ada] = [await world.person(), await world.person()]
  const at = (cron: string, timezone?: string) => ({
    ...autonomous,
    trigger: { type: 'schedule', config: { cron, ...(timezone ? { timezone } : {}) } },
  })
  // It is 12:00 in London, 13:00 in Vienna.
  const first = manifest(at('30 13 * * *', 'Europe/Vienna'))
  const made = await submit(author, first)
  await admin.decide(made.id, 'approve')
  await install(ada, made.slug)
  await settle()
  clock.advance(30 * MINUTE - 1)
  await settle()
  expect(await results(ada)).toEqual([])
  clock.advance(1)
  await settle()
  expect(await results(ada)).toEqual(['completed'])
  clock.advance(3 * DAY)
  await settle()
  expect(await results(ada)).toEqual(['completed', 'completed'])
  const next = await submit(author, { ...first, ...at('0 9 * * *'), version: '1.1.0' }, { skill_id: made.skillId })
  await admin.decide(next.id, 'approve')
  await settle()
  clock.advance(DAY)
  await settle()
  expect(await results(ada)).toHaveLength(3)
  await ada.send('DELETE', 'skills', { skillId: made.skillId })
  clock.advance(DAY)
  await settle()
  expect(await results(ada)).toHaveLength(3)
})
