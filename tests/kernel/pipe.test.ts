import { describe, expect, test } from 'bun:test'
import { createPipe, ReaderLeft } from '../../src/kernel/stream'
import { eventually } from '../support/eventually'

describe('a pipe', () => {
  test('gives what was written while its reader was busy in one piece, in order, to its end', async () => {
    const pipe = createPipe()
    const pieces: string[] = []
    expect(pipe.write('a')).toBeUndefined()
    expect(pipe.write('b')).toBeUndefined()
    const reading = (async () => {
      for await (const bytes of pipe.read()) {
        const piece = Buffer.from(bytes).toString()
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
    expect((await pipe.read().getReader().read()).value).toHaveLength(10_000)
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

  describe('with a reader at a socket', () => {
    /** Writes until the reader is behind; the promise that the writer then gets. */
    function fill(pipe: ReturnType<typeof createPipe>) {
      let written = 0
      let behind = pipe.write('x')
      for (; !behind && written < 5_000; written++) behind = pipe.write('x'.repeat(16_384))
      return { written, behind }
    }

    async function open() {
      const pipe = createPipe()
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(pipe.read()) })
      let received = 0
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: server.port!,
        socket: {
          data: (_, bytes) => {
            received += bytes.length
          },
        },
      })
      void pipe.write('first')
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
      await eventually(() => received > 0)
      return { pipe, socket, received: () => received, stop: () => server.stop(true) }
    }

    test('makes its writer wait while that stalls, and go on once it reads again', async () => {
      const { pipe, socket, received, stop } = await open()
      socket.pause()
      const { written, behind } = fill(pipe)
      expect(written).toBeLessThan(5_000)
      expect(pipe.isEmpty()).toBe(false)
      socket.resume()
      await behind
      expect(pipe.isEmpty()).toBe(true)
      pipe.end()
      await eventually(() => received() > written * 16_384)
      socket.end()
      await stop()
    })

    test('tells a writer that waits when that leaves', async () => {
      const { pipe, socket, stop } = await open()
      socket.pause()
      const { behind } = fill(pipe)
      socket.terminate()
      await expect(behind).rejects.toBeInstanceOf(ReaderLeft)
      await expect(pipe.write('more')).rejects.toBeInstanceOf(ReaderLeft)
      await stop()
    })
  })
})
