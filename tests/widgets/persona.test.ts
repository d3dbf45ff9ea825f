import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { widgets } from '../../src/widgets/table'
import { startUpstream } from '../support/upstream'
import { createWidgetWorld } from './world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const engines = {
  upstreams: { up: { kind: 'compat' as const, baseUrl: upstream.url, maxOutputTokens: 200 } },
  models: { 'svc-1-flash': ['up:scripted'] },
}
const world = await createWidgetWorld({ config: { engines } })
const PIRATE = 'You are a pirate of the tides.'

/** What the engine is told before the question of a visitor. */
async function notifiedBy(persona: unknown, stored?: unknown): Promise<string> {
  const { id } = await world.widget({ behavior: { mode: 'fast', persona } })
  if (stored !== undefined)
    await world.app.store.write(async (tx) => {
      const t = tx.of(widgets)
      const [row] = await tx
        .select()
        .from(t)
        .where(eq(t.id, id as never))
      await tx
        .update(t)
        .set({ behavior: { ...row!.behavior, persona: stored as never } })
        .where(eq(t.id, id as never))
    })
  await world.say(await world.begin(id), 'When do they turn?')
  return (upstream.calls.at(-1)!.body as { messages: { role: string; content: string }[] }).messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n')
}

test('the persona of a widget is that of a completion: `svc`, `none` for raw, or a system prompt', async () => {
  const [svc, none, own] = [
    await notifiedBy('svc'),
    await notifiedBy('none'),
    await notifiedBy({ system_prompt: PIRATE }),
  ]
  const completed = async (persona: unknown) => {
    await (await world.person()).send('POST', 'completions', { prompt: 'When do they turn?', mode: 'fast', persona })
    return (upstream.calls.at(-1)!.body as { messages: { role: string; content: string }[] }).messages
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content)
      .join('\n')
  }
  expect(none).toBe(await completed('none'))
  expect(own).toContain(PIRATE)
  expect(new Set([svc, none, own]).size).toBe(3)
})

test('what is none of these is refused, and what older widgets hold goes on meaning what it meant', async () => {
  const { owner, id } = await world.widget()
  expect((await owner.send('GET', `iframes/${id}`)).body.behavior.persona).toBe('svc')
  for (const persona of ['a pirate', '', {}, { system_prompt: '' }, 1]) {
    const { status, body } = await owner.send('PATCH', `iframes/${id}`, { behavior: { persona } })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  }
  expect(await notifiedBy('svc', PIRATE)).toContain(PIRATE)
  expect(await notifiedBy('none', '')).toBe(await notifiedBy('svc'))
})
