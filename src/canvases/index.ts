/** Canvases: what is drawn, checked, compiled into a skill and its steps, tried out, and published. */
export { type CanvasService, createCanvases } from './service'
