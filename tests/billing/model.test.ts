import { expect, test } from 'bun:test'
import { openTestStore } from '../support/store'
import { simulate } from './simulate'
import { createWorld } from './world'

const store = await openTestStore()

test('thirty random lives of an account, fifty steps each, agree with the model (I45)', async () => {
  await simulate(store, 30)
  expect(await createWorld(store).verify()).toEqual([])
}, 120_000)
