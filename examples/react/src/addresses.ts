/** Where Tandem and the API are. `VITE_SERVICE=… VITE_API=… npm run dev` takes others. */
export const SERVICE: string = import.meta.env.VITE_SERVICE ?? 'http://localhost:3000';
export const API: string = import.meta.env.VITE_API ?? 'http://localhost:4000';
