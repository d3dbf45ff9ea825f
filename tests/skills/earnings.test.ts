import { describe, expect, test } from 'bun:test'
import { createRollup } from '../../src/usage/rollup-loop'
import { createWorld, type Person } from '../support/world'
import { manifest, submit } from './support'

const world = await createWorld()

/** Adds up what was called, as the server does in the background. */
async function rollUp(): Promise<void> {
  const rollBatch = createRollup({ store: world.app.store })
  while (!(await rollBatch()).done) {}
}
const ask = (person: Person, skills: string[]) =>
  person.send('POST', 'completions', { prompt: `Hello ${skills.length}`, mode: 'fast', skills, conversation_id: null })

async function earned(author: Person, query = '') {
  await rollUp()
  const { body } = await author.send('GET', `skills/earnings${query}`)
  return Object.fromEntries(
    body.by_skill.map(({ slug, activations }: { slug: string; activations: number }) => [slug, activations]),
  )
}

describe('GET /skills/earnings', () => {
  test('counts the calls of everyone that a skill of one’s own took part in, once each', async () => {
    const [author, ada, bob, other] = await Promise.all([0, 1, 2, 3].map(() => world.person()))
    const [one, two] = [await submit(author!, manifest()), await submit(author!, manifest())]
    const foreign = await submit(other!, manifest())
    expect(await earned(author!)).toEqual({ [one.slug]: 0, [two.slug]: 0 })
    await ask(ada!, [one.slug])
    await ask(ada!, [one.slug, two.slug])
    await ask(bob!, [one.slug, foreign.slug])
    await ask(bob!, [])
    await ask(author!, [two.slug])
    expect(await earned(author!)).toEqual({ [one.slug]: 3, [two.slug]: 2 })
    expect(await earned(other!)).toEqual({ [foreign.slug]: 1 })
    await ask(bob!, [two.slug])
    expect(await earned(author!)).toEqual({ [one.slug]: 3, [two.slug]: 3 })
    expect(await earned(author!, '?from=2020-01-01&to=2020-02-01')).toEqual({ [one.slug]: 0, [two.slug]: 0 })
    expect(await earned(ada!)).toEqual({})
  })

  test('asks for a period that is one', async () => {
    const reply = await (await world.person()).send('GET', 'skills/earnings?from=2026-02-01&to=2026-01-01')
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })
})
