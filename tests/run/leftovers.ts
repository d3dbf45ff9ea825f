import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'

/**
 * Ours, and what Chromium, its driver and the sound library leave. A run of tests beside this one has `svc-tests-…`.
 */
const OURS = /^(svc-(?!tests-)|\.?org\.chromium\.|puppeteer_|pulse-)/

/** Notes what is in the system's temporary folders now; the answered function names what came since and is ours. */
export function leftovers(folders: readonly string[] = [...new Set([tmpdir(), '/tmp', '/dev/shm'])]): () => string[] {
  const named = () =>
    folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => OURS.test(name))
        .map((name) => `${folder}/${name}`),
    )
  const before = new Set(named())
  return () => named().filter((path) => !before.has(path))
}
