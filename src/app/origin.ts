import type { Config } from './config'

/** The origin for browsers: the public address, else the one listened on; none opens what means every network. */
export function originOf({ publicUrl, host, port }: Config, url: string | null): string {
  if (publicUrl) return publicUrl.replace(/\/$/, '')
  const bound = url || `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return bound.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:')
}
