import { describe, expect, test } from 'bun:test'
import type { OwnerScope } from '../../../src/kernel/caller'
import { UserId } from '../../../src/kernel/ids'
import { createRecall, insertMemory, removeMemory } from '../../../src/skills/conversations/memory'
import { MemoryId } from '../../../src/skills/conversations/schema'
import type { MemoryRow } from '../../../src/skills/conversations/table'
import { effortOf } from '../../support/effort'
import { openTestStore } from '../../support/store'

const store = await openTestStore()

const someone = (): OwnerScope => `user:${UserId.create()}`
const word = (number: number) => `w${number.toString(36)}x`
const longText = (from: number) => Array.from({ length: 140 }, (_, at) => word(from * 140 + at)).join(' ')

async function remember(owner: OwnerScope, ...contents: string[]): Promise<MemoryId[]> {
  const rows = contents.map(
    (content): MemoryRow => ({ id: MemoryId.create(), owner, content, source: 'api', created_at: 1 }),
  )
  await store.write(async (tx) => {
    for (const row of rows) await insertMemory(tx, row)
  })
  return rows.map(({ id }) => id)
}

describe('what is recalled', () => {
  test('keeps up with what comes and goes, each only for its owner', async () => {
    const { recall, forget } = createRecall({ store })
    const [ada, eve] = [someone(), someone()]
    const [tea] = await remember(ada, 'Ada likes tea.', 'Ada owns a red boat.')
    expect(await recall(ada, 'which tea?')).toEqual(['Ada likes tea.'])
    expect(await recall(eve, 'which tea?')).toEqual([])

    await remember(ada, 'The tea is green.')
    forget(ada)
    expect([...(await recall(ada, 'which tea?'))].toSorted()).toEqual(['Ada likes tea.', 'The tea is green.'])

    await store.write((tx) => removeMemory(tx, ada, tea!))
    forget(ada)
    expect(await recall(ada, 'which tea?')).toEqual(['The tea is green.'])
    expect(await recall(ada, 'what boat?')).toEqual(['Ada owns a red boat.'])
  })

  test('is the same for all who ask at once, while it changes', async () => {
    const { recall, forget } = createRecall({ store })
    const ada = someone()
    await remember(ada, 'Ada likes tea.')
    const request = Array.from({ length: 8 }, async () => {
      forget(ada)
      return await recall(ada, 'which tea?')
    })
    expect(await Promise.all(request)).toEqual(Array(8).fill(['Ada likes tea.']))
  })

  test('of a thousand long texts holds nobody up, and one more costs little', async () => {
    const { recall, forget } = createRecall({ store })
    const ada = someone()
    await remember(ada, ...Array.from({ length: 1_000 }, (_, at) => longText(at)))
    let turns = 0
    let over = false
    const count = () => {
      turns++
      if (!over) setImmediate(count)
    }
    count()
    expect(await recall(ada, word(70_000))).toHaveLength(1)
    over = true
    expect(turns).toBeGreaterThan(50)

    await remember(ada, 'One more about tea.')
    const effort = await effortOf(async () => {
      forget(ada)
      expect(await recall(ada, 'tea')).toEqual(['One more about tea.'])
    })
    expect(effort).toBeLessThan(60)
  })
})
