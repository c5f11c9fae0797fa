import { LogInButton } from './app.tsx';
import { mount } from './mount.tsx';

mount(LogInButton);
