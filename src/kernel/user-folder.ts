import { join } from 'node:path'

/** The owner and the key that the first run in dev mode creates. */
export const DEV_OWNER = 'owner@localhost'

export const DEV_KEY = 'Dev laptop'

/** Folder of svc-admin for one user's data on this machine. Null without a home. */
export const userFolder = ({ XDG_CONFIG_HOME, HOME }: Record<string, string | undefined>): string | null =>
  XDG_CONFIG_HOME ? join(XDG_CONFIG_HOME, 'svc-admin') : HOME ? join(HOME, '.config', 'svc-admin') : null
