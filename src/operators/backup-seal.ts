import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invalidInput } from '../kernel/errors'
import type { WorkerReply } from '../kernel/worker-pool'
import { sha256Of } from './backup-files'
import type { SealTask } from './backup-seal.worker.ts'
import type { Backup } from './schema-backup'

/** A file with the whole backup. `age --decrypt --identity FILE backup.tar.age | tar x` opens it without svc. */
const SEALED = 'backup.tar.age'

/** Packs a folder into an encrypted file in constant memory. */
export async function seal(folder: string, into: string, to: string[]): Promise<NonNullable<Backup['encrypted']>> {
  const target = join(into, SEALED)
  await onThread({ kind: 'seal', folder, target, to })
  const file = await open(target, 'r')
  try {
    await file.sync()
    return { file: SEALED, bytes: (await file.stat()).size, sha256: await sha256Of(target), to }
  } finally {
    await file.close()
  }
}

/**
 * Decrypts a backup into a folder.
 * @returns a sentence that explains a failure, or null
 */
export async function unseal(folder: string, into: string, identities: readonly string[]): Promise<string | null> {
  await mkdir(dirname(into), { recursive: true, mode: 0o700 })
  try {
    await onThread({ kind: 'open', source: join(folder, SEALED), folder: into, identities: [...identities] })
    return null
  } catch (error) {
    return `${SEALED} cannot be decrypted: ${(error as Error).message}.`
  }
}

/** @throws AppError 400 for a word that is not an age recipient */
export async function assertRecipients(words: readonly string[]): Promise<void> {
  const { Encrypter } = await import('age-encryption')
  for (const word of words) {
    try {
      new Encrypter().addRecipient(word)
    } catch {
      throw invalidInput('encrypt_to', `"${word.slice(0, 80)}" is not an age recipient; age-keygen prints one.`)
    }
  }
}

/** Runs on a thread, because encrypting gigabytes would block everything else (docs/promises.md I28). */
function onThread(task: SealTask): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const thread = new Worker(new URL('./backup-seal.worker.ts', import.meta.url).href)
  thread.onmessage = ({ data }: MessageEvent<WorkerReply<null>>) =>
    data.ok ? resolve() : reject(new Error(data.problem))
  thread.onerror = ({ message }) => reject(new Error(message))
  thread.postMessage(task)
  return promise.finally(() => thread.terminate())
}
