import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { startCrowd } from './crowd'

/** What one open stream of a visitor may cost; `bun run bench chats` measures 5,000. */
const MAX_BYTES = 40 * 1024
const STREAMS = 500
const PATIENCE_MS = 240_000

const crowd = await startCrowd()
afterAll(() => crowd.stop())

test(
  'open streams of visitors are small, and each hears its own operator',
  async () => {
    // The first ones bring what is there once: compiled code, and buffers.
    await crowd.begin(STREAMS)
    await crowd.listen()
    const before = crowd.memory()
    await crowd.begin(STREAMS)
    await crowd.listen()
    await eventually(
      () => (crowd.memory() - before) / STREAMS,
      (each) => each < MAX_BYTES,
    )
    const heard: string[] = []
    crowd.hear((text) => heard.push(...(text.match(/word-\d+-end/g) ?? [])))
    await crowd.take(3)
    for (const at of [0, 1, 2]) await crowd.say(at, `word-${at}-end`)
    await eventually(() => heard.length >= 3)
    expect(heard.toSorted()).toEqual(['word-0-end', 'word-1-end', 'word-2-end'])
  },
  PATIENCE_MS,
)
