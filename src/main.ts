import { loadServer } from './app/bundle'
import { untilSignal } from './kernel/signals'

// Heard from here on: loading takes a while.
const stop = untilSignal()
const { serve } = await loadServer()

await serve({}, { stop })
