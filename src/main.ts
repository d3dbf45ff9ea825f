import { bundled } from './app/bundle'

/** One compiled file loads in a third of the time; without one, or after a change, the sources do. */
const { serve }: typeof import('./app/serve') = await import(bundled() ?? './app/serve')

await serve()
