import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
/** Databases, data folders and a copy of the repository with its packages: several times what they came to. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * The temporary folder of the tests: in memory where there is room. Files come and go by the ten thousand and
 * every commit is synced, which on a disk is half of the waiting; what survives a power cut is not what these
 * tests measure. Removed when this process ends.
 */
export function makeScratch(): string {
  const folder = mkdtempSync(join(hasRoom() ? IN_MEMORY : tmpdir(), 'svc-tests-'))
  // The database server runs as another user and has its folder in here.
  chmodSync(folder, 0o711)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
  return folder
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return allowsPrograms() && bavail * bsize >= ENOUGH_BYTES && availableBytes() >= ENOUGH_BYTES
  } catch {
    return false
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
