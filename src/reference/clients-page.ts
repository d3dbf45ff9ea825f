import { sections } from './write'

/** The page about the clients that come with the server. */
export const clientsPage = (origin: string): string =>
  sections(
    '# Clients',
    '## Any client of chat completions',
    `Set its base URL to \`${origin}/api/v1\` and its key to a key of this server.`,
  )
