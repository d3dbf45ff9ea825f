import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { Decrypter, Encrypter } from 'age-encryption'
import { packTar, unpackTar } from 'modern-tar/fs'
import type { WorkerReply } from '../kernel/worker-pool'

export type SealTask =
  | { kind: 'seal'; folder: string; target: string; to: string[] }
  | { kind: 'open'; source: string; folder: string; identities: string[] }

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<SealTask>) => {
  let reply: WorkerReply<null>
  try {
    if (data.kind === 'seal') {
      const encrypter = new Encrypter()
      for (const recipient of data.to) encrypter.addRecipient(recipient)
      const sealed = await encrypter.encrypt(toWeb(packTar(data.folder, { concurrency: 1 })))
      await pipeline(fromWeb(sealed), createWriteStream(data.target, { flags: 'wx', mode: 0o600 }))
    } else {
      const decrypter = new Decrypter()
      for (const identity of data.identities) decrypter.addIdentity(identity)
      const opened = await decrypter.decrypt(toWeb(createReadStream(data.source)))
      await pipeline(fromWeb(opened), unpackTar(data.folder, { dmode: 0o700, fmode: 0o600, maxDepth: 8 }))
    }
    reply = { ok: true, answer: null }
  } catch (error) {
    reply = { ok: false, problem: (error as Error).message }
  }
  self.postMessage(reply)
}

/** Casts between two type libraries that describe the same streams differently. */
const toWeb = (from: Readable) => Readable.toWeb(from) as unknown as ReadableStream<Uint8Array>
const fromWeb = (from: ReadableStream<Uint8Array>) => Readable.fromWeb(from as unknown as NodeStream)
