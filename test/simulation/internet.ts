import { judgeAnswers, REFRESH } from './answers.ts';
import { accessTokenOf, type Here } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import type { Asked, Instance } from './service.ts';

type Around = Here & { readonly instances: readonly Instance[]; readonly replays: boolean };
export type Internet = ReturnType<typeof openInternet>;

/** The way to the service: any instance that is up answers, and each answer is judged. */
export const openInternet = ({ chance, story, facts, instances, replays }: Around) => {
  const judge = judgeAnswers({ story, facts, replays });
  let arrived = Promise.withResolvers<void>();
  const internet = {
    ...{ story, facts, requests: 0 },
    /** What a thief can repeat without harm to the owner: the last read, and the last refresh with a proof. */
    copies: {} as { read?: Asked; refresh?: Asked },
    send(asked: Asked) {
      const arrivedAt = kernel.time;
      internet.requests += 1;
      const up = instances.filter(({ isUp }) => isUp());
      if (up.length === 0) return { answer: kernel.sleep(5).then(() => null), hangUp: () => undefined };
      const instance = chance.pick(up);
      const { answer, hangUp } = instance.request(asked);
      const isRefresh = asked.path === REFRESH;
      if (isRefresh) arrived.resolve();
      if (asked.method === 'GET' && accessTokenOf(asked)) internet.copies.read = asked;
      if (isRefresh && asked.headers.dpop) internet.copies.refresh = asked;
      const judged = answer.then((value) => {
        if (value === null || !instance.isUp()) return null;
        judge(asked, value, arrivedAt, instance.problemsOf(asked, value));
        return value;
      });
      void story.within(`${asked.method} ${asked.path}`, judged, 45 * SECOND);
      return { answer: judged, hangUp };
    },
    ask: (asked: Asked) => internet.send(asked).answer,
    /** Resolves when a refresh arrives: at any moment, faults hardly ever meet one. */
    atRefresh(): Promise<void> {
      arrived = Promise.withResolvers();
      return Promise.race([arrived.promise, kernel.sleep(20 * MINUTE)]);
    },
  };
  return internet;
};
