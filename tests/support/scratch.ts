import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'svc-tests-'
const IN_MEMORY = '/dev/shm'
/** Databases, data folders and a copy of the repository with its packages: several times what they came to. */
const ENOUGH_BYTES = 4 * 2 ** 30
/** Waits for the end of its input. A process that is still ending may write once more. */
const REMOVE = 'cat >/dev/null; for i in 1 2 3 4 5; do rm -rf "$0" && exit; sleep 0.2; done'

/** Their standard input stays open as long as this process lives. */
const removers: unknown[] = []

/**
 * Makes the one temporary folder that a run of tests, and every process that it starts, uses as `TMPDIR`. A process of
 * its own removes it when this one has ended, also when this one is killed.
 */
export function makeScratch(parent: string): string {
  const folder = mkdtempSync(join(parent, PREFIX))
  // A database server runs as another user and has its folder in here.
  chmodSync(folder, 0o711)
  const remover = Bun.spawn(['sh', '-c', REMOVE, folder], {
    detached: true,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  remover.unref()
  removers.push(remover)
  // Bun's test runner ends without this; a script does not.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether the temporary folder of this process is in one that `makeScratch` made. */
export const isInScratch = (): boolean => tmpdir().includes(`/${PREFIX}`)

/**
 * Where a long run keeps its temporary files: in memory where there is room. Files come and go by the ten thousand and
 * every commit is synced, which on a disk is half of the waiting; what survives a power cut is not what these tests
 * measure.
 */
export function fastestParent(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    const hasRoom = bavail * bsize >= ENOUGH_BYTES && availableBytes() >= ENOUGH_BYTES
    return hasRoom && allowsPrograms() ? IN_MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Tests run programs of their own making from there. */
function allowsPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const options = mounts.findLast((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ')[3]
  return options !== undefined && !options.split(',').some((one) => one === 'noexec' || one === 'ro')
}

function availableBytes(): number {
  const found = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))
  return found ? Number(found[1]) * 1024 : 0
}
