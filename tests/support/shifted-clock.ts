/** Preloaded into a process whose wall clock is to be wrong, by the milliseconds that the file SHIFT_FILE holds. */
import { readFileSync } from 'node:fs'

const own = Date.now
Date.now = () => own() + Number(readFileSync(process.env.SHIFT_FILE!, 'utf8'))
