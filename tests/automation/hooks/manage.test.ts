import { describe, expect, test } from 'bun:test'
import { refusals } from '../../support/refusals'
import { createHookWorld } from './support'

const { world, skill, install } = await createHookWorld()

describe('a hook (docs/api.md 11.1)', () => {
  test('is installed from a preset, with its skill, or from a pattern', async () => {
    const ada = await world.person()
    const preset = await install(ada, { hook_preset_id: 'task.overdue.summary' })
    expect(preset.status).toBe(201)
    expect(preset.body).toMatchObject({
      hook_preset_id: 'task.overdue.summary',
      event_pattern: 'task.overdue',
      skill_slug: 'todo-manager',
      enabled: true,
      cooldown_minutes: 15,
      consecutive_failures: 0,
      last_fired_at: null,
      config: {},
    })
    const slug = await skill()
    const own = await install(ada, {
      event_pattern: 'order.*.paid',
      skill_slug: slug,
      cooldown_minutes: 1,
      config: { a: 1 },
    })
    expect(own.body).toMatchObject({ event_pattern: 'order.*.paid', skill_slug: slug, cooldown_minutes: 1 })
    const other = await install(ada, { hook_preset_id: 'task.overdue.summary', skill_slug: slug })
    expect(other.body).toMatchObject({ event_pattern: 'task.overdue', skill_slug: slug })
    const { body } = await ada.send('GET', 'hooks')
    expect(body.hooks).toHaveLength(3)
    expect(body.presets.map(({ id }: { id: string }) => id)).toEqual([
      'share.accepted.welcome',
      'task.overdue.summary',
      'project.created.suggestions',
      'team.member_joined.onboarding',
      'document.analyzed.followup',
    ])
    for (const { id } of body.presets) expect((await install(ada, { hook_preset_id: id })).status).toBe(201)
  })

  test('takes no counters from outside (E2)', async () => {
    const ada = await world.person()
    const forged = { consecutive_failures: 3, last_fired_at: '2020-01-01T00:00:00Z', enabled: false, org_id: 'x' }
    const { body } = await install(ada, { hook_preset_id: 'task.overdue.summary', ...forged })
    expect(body).toMatchObject({ consecutive_failures: 0, last_fired_at: null, enabled: true, org_id: null })
    const patched = await ada.send('PATCH', `hooks/${body.id}`, { ...forged, cooldown_minutes: 5 })
    expect(patched.body).toMatchObject({ consecutive_failures: 0, cooldown_minutes: 5, enabled: false, updated: true })
  })

  test("another owner's private skill is not found (D1)", async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const draft = { name: 'Mine', slug: 'mine-alone', category: 'domain', system_prompt_ext: 'Help.' }
    await ada.send('POST', 'skills/create', draft)
    expect((await install(eve, { event_pattern: 'a', skill_slug: 'mine-alone' })).status).toBe(404)
    expect((await install(ada, { event_pattern: 'a', skill_slug: 'mine-alone' })).status).toBe(201)
  })
})

const preset = { hook_preset_id: 'task.overdue.summary' }
const pattern = (event_pattern: string) => ({ event_pattern, skill_slug: 'email-drafter' })
const unknown = { status: 404, code: 'not_found' }
refusals('POST /hooks refuses', { world, as: await world.person(), request: 'POST hooks' }, [
  ['neither preset nor pattern', { skill_slug: 'email-drafter' }, ''],
  ['both', { ...preset, event_pattern: 'a' }, ''],
  ['an unknown preset', { hook_preset_id: 'none' }, '', unknown],
  ['an unknown skill', { event_pattern: 'a', skill_slug: 'no-such-skill' }, '', unknown],
  ['no skill', { event_pattern: 'a' }, ''],
  ['a pattern that is none', pattern('A..b'), ''],
  ['a pattern of half a word', pattern('order.cr*'), ''],
  ['no cooldown', { ...preset, cooldown_minutes: 0 }, ''],
  ['a cooldown of days', { ...preset, cooldown_minutes: 1_441 }, ''],
  ['a large config', { ...preset, config: { a: 'x'.repeat(17_000) } }, ''],
])
