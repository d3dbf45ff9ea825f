import { describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCheckpointBook, createCheckpoints } from '../../src/audit'
import { isAuthentic, signCheckpoint } from '../../src/audit/checkpoints'
import { auditHeads } from '../../src/audit/table'
import { newSigningKey, openSigningKey } from '../../src/kernel/signing'
import { openTestStore } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from './world'

const store = await openTestStore()
const root = temporaryFolder('svc-checkpoints-')
const key = openSigningKey(newSigningKey())

/** Checkpoints of a store that others use too, in a folder of their own. */
function signer({ folder = mkdtempSync(join(root, 'data-')), maxBytes }: { folder?: string; maxBytes?: number } = {}) {
  const { clock, someone } = createWorld(store)
  const broken: string[] = []
  const book = createCheckpointBook({ folder, ...(maxBytes ? { maxBytes } : {}) })
  const onBroken = ({ scope }: { scope: string }) => void broken.push(scope)
  const checkpoints = createCheckpoints({ store, clock, key, book, onBroken })
  return { clock, someone, book, broken, checkpoints, folder }
}

const linesIn = (folder: string) => readFileSync(join(folder, 'checkpoints.jsonl'), 'utf8').trimEnd().split('\n')

describe('checkpoints', () => {
  test('are signed for every chain that grew, once, and kept in a file that only its owner reads', async () => {
    const { someone, book, checkpoints, folder } = signer()
    const [ada, eve] = [someone(), someone()]
    await ada.act()
    await ada.act()
    await eve.act()
    await checkpoints.signDue()
    const { items } = await ada.list()
    expect(await book.newest(ada.scope)).toMatchObject({ scope: ada.scope, seq: 2, hash: items[0]!.hash })
    expect((await book.newest(eve.scope))?.seq).toBe(1)
    expect(isAuthentic((await book.newest(ada.scope))!)).toBe(true)
    expect(await checkpoints.signDue({ all: true })).toBe(0)
    expect(statSync(join(folder, 'checkpoints.jsonl')).mode & 0o777).toBe(0o600)
  })

  test('come every 60 seconds or 1,000 events, whichever is first', async () => {
    const { clock, someone, book, checkpoints } = signer()
    const ada = someone()
    const seq = async () => (await book.newest(ada.scope))?.seq
    await ada.act()
    await checkpoints.signDue()
    await ada.act()
    await checkpoints.signDue()
    expect(await seq()).toBe(1)
    clock.advance(59_000)
    await checkpoints.signDue()
    expect(await seq()).toBe(1)
    clock.advance(1_000)
    await checkpoints.signDue()
    expect(await seq()).toBe(2)
    await Promise.all(Array.from({ length: 999 }, () => ada.act()))
    await checkpoints.signDue()
    expect(await seq()).toBe(2)
    await ada.act()
    await checkpoints.signDue()
    expect(await seq()).toBe(1002)
  })

  test('are known again by the next process, which drops a line the last one did not finish', async () => {
    const first = signer()
    const ada = first.someone()
    await ada.act()
    await first.checkpoints.signDue()
    appendFileSync(join(first.folder, 'checkpoints.jsonl'), '{"object":"audit_ch')
    const second = signer({ folder: first.folder })
    expect((await second.book.newest(ada.scope))?.seq).toBe(1)
    await ada.act()
    await second.checkpoints.signDue({ all: true })
    expect(await second.checkpoints.verify(store.read)).toEqual([])
    expect((await second.book.newest(ada.scope))?.seq).toBe(2)
  })

  test('stay bounded, and a full file gives way to one that begins with the newest of every chain', async () => {
    const { someone, book, checkpoints, folder } = signer({ maxBytes: 4_000 })
    const [quiet, busy] = [someone(), someone()]
    await quiet.act()
    for (let turn = 0; turn < 60; turn++) {
      await busy.act()
      await checkpoints.signDue({ all: true })
    }
    expect(readdirSync(folder).sort()).toEqual(['checkpoints.1.jsonl', 'checkpoints.jsonl'])
    const again = createCheckpointBook({ folder })
    expect((await again.newest(quiet.scope))?.seq).toBe(1)
    expect((await again.newest(busy.scope))?.seq).toBe(60)
    expect(await book.newest(busy.scope)).toEqual(await again.newest(busy.scope))
    expect(await checkpoints.verify(store.read)).toEqual([])
  })

  test('of a chain that nobody looked at yet is made when asked for; of one that has not begun it says so', async () => {
    const { someone, checkpoints, folder } = signer()
    const ada = someone()
    const nothing = await checkpoints.newest(ada.scope)
    expect(nothing).toMatchObject({ seq: 0, hash: '0'.repeat(64) })
    expect(isAuthentic(nothing)).toBe(true)
    await ada.act()
    const made = await checkpoints.newest(ada.scope)
    expect(made.seq).toBe(1)
    expect(await checkpoints.newest(ada.scope)).toEqual(made)
    expect(linesIn(folder)).toHaveLength(1)
  })

  test('are not signed over a chain that lost what was signed before; that is reported once', async () => {
    const { clock, someone, book, broken, checkpoints } = signer()
    const ada = someone()
    await ada.act()
    const { hash, ...place } = { scope: ada.scope, seq: 1, hash: 'ab'.repeat(32) }
    await book.append([signCheckpoint(key, { ...place, hash }, '2026-01-01T00:00:00.000Z')])
    await ada.act()
    clock.advance(120_000)
    await checkpoints.signDue()
    await checkpoints.signDue()
    expect(broken).toEqual([ada.scope])
    expect((await book.newest(ada.scope))?.hash).toBe(hash)
  })

  test('find an event, a head and a file that were changed, whatever else agrees', async () => {
    const { someone, book, checkpoints, folder } = signer()
    const ada = someone()
    for (let turn = 0; turn < 3; turn++) await ada.act()
    await checkpoints.signDue()
    expect(await checkpoints.verify(store.read)).toEqual([])

    const other = openSigningKey(newSigningKey())
    await book.append([signCheckpoint(other, { ...(await book.newest(ada.scope))! }, '2026-01-01T00:00:00.000Z')])
    const place = { scope: ada.scope, seq: 2, hash: 'ab'.repeat(32) }
    await book.append([signCheckpoint(key, place, '2026-01-01T00:00:00.000Z')])
    await book.append([signCheckpoint(key, { ...place, seq: 9 }, '2026-01-01T00:00:00.000Z')])
    const lines = linesIn(folder)
    const edited = lines.at(-1)!.replace('"seq":9', '"seq":8')
    writeFileSync(join(folder, 'checkpoints.jsonl'), `${[...lines, edited, 'no JSON'].join('\n')}\n`)
    const count = lines.length
    expect(await checkpoints.verify(store.read)).toEqual([
      `checkpoints.jsonl line ${count - 2}: ${ada.scope} #3 was signed with a key other than this server's`,
      `checkpoints.jsonl line ${count - 1}: audit ${ada.scope} #2: is not the event that was signed at 2026-01-01T00:00:00.000Z`,
      `checkpoints.jsonl line ${count}: audit ${ada.scope} #9: is not the event that was signed at 2026-01-01T00:00:00.000Z`,
      `checkpoints.jsonl line ${count + 1}: the signature for ${ada.scope} #8 is not genuine`,
      `checkpoints.jsonl line ${count + 2}: is not a checkpoint`,
    ])
  })

  test('leave heads as they are: nothing of this is written to the database', async () => {
    const { someone, checkpoints } = signer()
    await someone().act()
    const heads = () =>
      store.read
        .select()
        .from(store.read.of(auditHeads))
        .then((rows) => rows.length)
    const before = await heads()
    await checkpoints.signDue({ all: true })
    expect(await heads()).toBe(before)
  })
})
