import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { userFolder } from '../src/kernel/user-folder'
import type { Command } from './command'
import { notFoundFailure, usageFailure } from './failure'
import type { Environment, Globals } from './globals'

/** A named remote server. Its key is in a separate file (dx 2.2). */
export type Profile = { name: string; url: string; production: boolean; org: string | null }
type Stored = {
  active: string | null
  profiles: Profile[]
  /** `{"keys":{"jobs.cancel":"x"},"replies":{"hold":"One moment."}}`: keys and saved replies of the dashboard. */
  tui?: { keys?: Record<string, string | string[]>; replies?: Record<string, string> }
}

/** What only tells something, and is the same on every machine: it may be asked within a dashboard of another server. */
const TEXTS = ['help', 'cheat', 'commands']

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

/** The user's profiles, in one file that only they can read. */
export function createProfiles(env: Environment) {
  const folder = userFolder(env)
  const file = folder && join(folder, 'config.json')
  const keyFileOf = (name: string): string => join(folder!, 'keys', name)

  function read(): Stored {
    if (!file || !existsSync(file)) return { active: null, profiles: [] }
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Stored
    } catch {
      throw usageFailure(`${file} is not valid JSON.`, 'fix it, or remove it and add the profiles again')
    }
  }

  function write(stored: Stored): void {
    if (!file) throw usageFailure('There is no home folder to store profiles in.', 'set XDG_CONFIG_HOME or HOME')
    writePrivately(file, `${JSON.stringify(stored, null, 2)}\n`)
  }

  function find(name: string): Profile {
    const found = read().profiles.find((profile) => profile.name === name)
    if (!found) throw notFoundFailure(`There is no profile ${name}.`, 'svc-admin profiles list')
    return found
  }

  return {
    find,
    keyFileOf,
    list: () => read().profiles,
    active: () => read().active,
    dashboardKeys: () => read().tui?.keys ?? {},
    savedReplies: () => read().tui?.replies ?? {},

    /** Adds or replaces a profile; the first one becomes active. @throws CommandFailed 2 */
    save(profile: Profile, key: string): void {
      if (!NAME.test(profile.name))
        throw usageFailure(`NAME is "${profile.name}"; it must be lower-case letters, digits and hyphens.`)
      const { active, profiles, ...rest } = read()
      const others = profiles.filter(({ name }) => name !== profile.name)
      write({ ...rest, active: active ?? profile.name, profiles: [...others, profile] })
      writePrivately(keyFileOf(profile.name), `${key}\n`)
    },

    /** Sets the active profile; null for none. */
    use(name: string | null): void {
      if (name !== null) find(name)
      write({ ...read(), active: name })
    },

    remove(name: string): void {
      find(name)
      const { active, profiles, ...rest } = read()
      write({ ...rest, active: active === name ? null : active, profiles: profiles.filter((one) => one.name !== name) })
      rmSync(keyFileOf(name), { force: true })
    },
  }
}

/** Replaces the file atomically, readable by its owner only. */
function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

/**
 * Completes the flags with a profile: the named one, or the active one when nothing else selects a server. Flags of the
 * command line win. @throws CommandFailed 2 for two servers, and for one named to a command that works on this machine
 * @throws CommandFailed 3 for an unknown profile
 */
export function withProfile(
  globals: Globals,
  env: Environment,
  { apis, path }: Pick<Command, 'apis' | 'path'>,
): Globals {
  const { profile: named, url, local, socket, keyFile } = globals
  const chosen = [url && '--url', local && '--local', socket && '--socket'].filter(Boolean)
  if (named && chosen.length) throw usageFailure(`--profile and ${chosen[0]} choose two servers. Leave one out.`)
  const isHere = apis.every((api) => api === 'host')
  const elsewhere = named ? '--profile' : url && url !== env.SVC_URL && '--url'
  // What a profile keeps is an address.
  const keepsIt = path.startsWith('profiles ') || TEXTS.includes(path)
  if (isHere && elsewhere && !keepsIt)
    throw usageFailure(`${path} works only on this machine.`, `leave out ${elsewhere}`)
  if (chosen.length || isHere) return globals
  const profiles = createProfiles(env)
  const name = named ?? profiles.active()
  if (!name) return globals
  const { org, ...profile } = profiles.find(name)
  return {
    ...globals,
    url: profile.url,
    // The environment's key file is meant for servers without a profile.
    keyFile: keyFile && keyFile !== env.SVC_OPERATOR_KEY_FILE ? keyFile : profiles.keyFileOf(name),
    ...(org && !globals.org ? { org } : {}),
    inProfile: { name, production: profile.production },
  }
}
