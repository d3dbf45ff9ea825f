import { describe, expect, test } from 'bun:test'
import { createPipe, ReaderLeft } from '../../src/kernel/stream'

describe('a pipe', () => {
  test('gives what was written while its reader was busy in one piece, in order, to its end', async () => {
    const pipe = createPipe()
    const pieces: string[] = []
    expect(pipe.write('a')).toBeUndefined()
    expect(pipe.write('b')).toBeUndefined()
    const reading = (async () => {
      for await (const piece of pipe.read()) {
        pieces.push(piece)
        if (piece === 'ab') await pipe.write('c')
        else pipe.end()
      }
    })()
    await reading
    expect(pieces).toEqual(['ab', 'c'])
    expect(pipe.isEmpty()).toBe(true)
  })

  test('makes its writer wait while the reader is behind, and for no longer', async () => {
    const pipe = createPipe()
    let isWaiting = true
    const room = pipe.write('x'.repeat(10_000))!
    void room.then(() => {
      isWaiting = false
    })
    await Promise.resolve()
    expect(isWaiting).toBe(true)
    expect((await pipe.read().next()).value).toHaveLength(10_000)
    await room
    expect(isWaiting).toBe(false)
    expect(pipe.write('more')).toBeUndefined()
  })

  test('tells a writer that waits, and every later one, that the reader has left', async () => {
    const pipe = createPipe()
    const room = pipe.write('x'.repeat(10_000))
    pipe.leave()
    await expect(room).rejects.toBeInstanceOf(ReaderLeft)
    await expect(pipe.write('more')).rejects.toBeInstanceOf(ReaderLeft)
    expect(await Array.fromAsync(pipe.read())).toEqual([])
  })

  test('counts a reader that stops reading as one that has left', async () => {
    const pipe = createPipe()
    await pipe.write('a')
    for await (const _ of pipe.read()) break
    expect(pipe.hasLeft()).toBe(true)
    await expect(pipe.write('more')).rejects.toBeInstanceOf(ReaderLeft)
  })
})
