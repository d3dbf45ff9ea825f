import { expect, test } from 'bun:test'
import { compiledWeight } from '../../src/kernel/compiled'
import { createWorld, type Person } from '../support/world'
import { onPattern } from './support'

const MEGABYTE = 1024 * 1024
const world = await createWorld()

/** A pattern that takes about a megabyte when compiled. */
const heavy = (salt: number) => `(?:[a-z]{1,20}x){1,12}y${salt}|z{1,700}`

async function policies(person: Person, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let place = 0; place < count; place++) {
    const rules = Array.from({ length: 8 }, (_, rule) => onPattern('input', 'flag', heavy(100 * place + rule)))
    const { body } = await person.send('POST', 'guardrail-policies', { name: `Heavy ${place}`, rules })
    await person.send('POST', `guardrail-policies/${body.id}/evaluate`, { text: 'nothing', phase: 'input' })
    ids.push(body.id)
  }
  return ids
}

async function preferences(person: Person, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let place = 0; place < count; place++) {
    const rules = Array.from({ length: 8 }, (_, rule) => ({ pattern: heavy(100 * place + rule), target_mode: 'code' }))
    const { body } = await person.send('POST', 'routing-preferences', { name: `Heavy ${place}`, rules })
    const tried = { prompt: 'nothing', routing_preference_id: body.id }
    await person.send('POST', 'routing-preferences/preview', tried)
    ids.push(body.id)
  }
  return ids
}

test('deleting or changing a policy or preference frees the memory of its compiled patterns', async () => {
  const ada = await world.person({ scopes: ['billing', 'completions'] })
  const [made, preferred] = [await policies(ada, 2), await preferences(ada, 2)]
  const grown = compiledWeight()

  const rules = [onPattern('input', 'flag', 'light')]
  await ada.send('PATCH', `guardrail-policies/${made[0]}`, { rules })
  await ada.send('POST', `guardrail-policies/${made[0]}/evaluate`, { text: 'light', phase: 'input' })
  expect(compiledWeight()).toBeLessThan(grown - MEGABYTE)

  for (const id of made) await ada.send('DELETE', `guardrail-policies/${id}`)
  for (const id of preferred) await ada.send('DELETE', `routing-preferences/${id}`)
  expect(compiledWeight()).toBeLessThan(grown - 4 * MEGABYTE)
})

test('one tenant can neither fill the memory nor displace what another has compiled', async () => {
  const [ada, eve] = [await world.person({ scopes: ['billing'] }), await world.person({ scopes: ['billing'] })]
  const [mine] = await policies(ada, 1)
  await policies(eve, 14)
  const full = compiledWeight()
  expect(full).toBeGreaterThan(40 * MEGABYTE)
  expect(full).toBeLessThanOrEqual(48 * MEGABYTE)
  await ada.send('DELETE', `guardrail-policies/${mine}`)
  expect(compiledWeight()).toBeLessThan(full - MEGABYTE)
})
